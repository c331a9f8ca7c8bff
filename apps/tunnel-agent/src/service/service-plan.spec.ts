import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launchdPlan } from './launchd-plan.js';
import { install, isInstalled, isOurs, MARKER, planText, remove, type ServicePlan } from './service-plan.js';
import { windowsPlan } from './windows-plan.js';

let folder: string;
let calls: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-service-'));
  calls = [];
  writeFileSync(join(folder, 'program'), 'the program');
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(failing = ''): (command: readonly string[]) => { status: number; output: string } {
  return (command) => {
    calls.push(command.join(' '));
    return command.join(' ') === failing ? { status: 5, output: 'no such unit\n' } : { status: 0, output: '' };
  };
}

function plan(): ServicePlan {
  const at = (name: string): string => join(folder, 'made', name);
  return {
    definition: at('unit'),
    files: [
      { path: at('bin/program'), kind: 'copy', of: join(folder, 'program') },
      { path: at('private/key'), kind: 'private', text: 'secret\n', isKey: true },
      { path: at('unit'), kind: 'text', text: `# ${MARKER}\n` },
    ],
    folders: [at('private')],
    shared: [at('bin'), at('')],
    prepare: [['prepare']],
    start: [['reload'], ['enable']],
    restart: [['reload'], ['restart']],
    stop: [['disable']],
    forget: [['reload']],
    check: ['check'],
    untried: false,
    linger: null,
  };
}

describe('a service', () => {
  it('is written, started, replaced and removed, and leaves nothing', () => {
    install(plan(), run());
    expect(calls).toEqual(['prepare', 'reload', 'enable']);
    expect(readFileSync(join(folder, 'made/bin/program'), 'utf8')).toBe('the program');
    expect(statSync(join(folder, 'made/bin/program')).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder, 'made/private/key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'made/private')).mode & 0o777).toBe(0o700);
    expect([isInstalled(plan()), isOurs(plan())]).toEqual([true, true]);
    calls = [];
    install(plan(), run());
    expect(calls).toEqual(['prepare', 'reload', 'restart']);
    calls = [];
    remove(plan(), run());
    expect(calls).toEqual(['disable', 'reload']);
    expect(readdirSync(folder)).toEqual(['program']);
  });

  it('is not left half installed', () => {
    expect(() => install(plan(), run('enable'))).toThrow('enable: no such unit');
    expect(readdirSync(folder)).toEqual(['program']);
    rmSync(join(folder, 'program'));
    expect(() => install(plan(), run())).toThrow('ENOENT');
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });

  it('stays where another program made it', () => {
    install(plan(), run());
    writeFileSync(plan().definition, '[Unit]\n');
    expect(isOurs(plan())).toBe(false);
  });
});

describe('plans that nobody has tried', () => {
  const request = {
    name: 'tunnel-agent',
    scope: 'system',
    runAs: 'agent',
    config: 'server: gw\n',
    key: 'gtk1.secret',
    graceSeconds: 30,
    fileRoots: [],
    program: { executable: '/usr/bin/node', script: '/opt/a&b/agent.mjs' },
    home: '/Users/an&n',
  } as const;

  it('for launchd are a property list of a daemon or of the user', () => {
    const daemon = launchdPlan(request, 501);
    expect(daemon).toMatchObject({
      untried: true,
      definition: '/Library/LaunchDaemons/io.gatehouse.tunnel-agent.plist',
    });
    const text = planText(daemon);
    expect(text).toContain('<key>UserName</key>\n  <string>agent</string>');
    expect(text).toContain('launchctl bootstrap system /Library/LaunchDaemons/io.gatehouse.tunnel-agent.plist');
    expect(text).not.toContain('gtk1.secret');
    const own = launchdPlan({ ...request, scope: 'user', runAs: undefined }, 501);
    expect(planText(own)).toContain('<string>/Users/an&amp;n/.gatehouse-agent/tunnel-agent/key</string>');
    expect(own.check).toEqual(['launchctl', 'print', 'gui/501/io.gatehouse.tunnel-agent']);
  });

  it('for Windows are a task, whose folder is closed before the key is written', () => {
    const task = windowsPlan(request, String.raw`C:\ProgramData`);
    expect(task.untried).toBe(true);
    expect(task.prepare.at(-1)?.slice(0, 3)).toEqual([
      'icacls',
      String.raw`C:\ProgramData\gatehouse-agent\tunnel-agent`,
      '/inheritance:r',
    ]);
    const text = planText(task);
    expect(text).toContain(String.raw`&quot;C:\ProgramData\gatehouse-agent\tunnel-agent\key&quot;`);
    expect(text).toContain('<Command>/usr/bin/node</Command>');
    expect(text).not.toContain('gtk1.secret');
  });
});
