import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { planText, type ServicePlan } from './service-plan.js';
import type { ServiceRequest } from './service-request.js';
import { systemdPlan } from './systemd-plan.js';

const KEY = 'gtk1.a-key-that-nobody-may-see';
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const request = (more: Partial<ServiceRequest> = {}): ServiceRequest => ({
  name: 'tunnel-agent',
  scope: 'system',
  runAs: undefined,
  config: 'server: gw.example.org\n',
  key: KEY,
  graceSeconds: 30,
  fileRoots: [],
  program: { executable: process.execPath, script: '/opt/agent/gatehouse-agent.mjs' },
  home: '/home/ann',
  ...more,
});

function unitOf({ files, definition }: ServicePlan): string {
  const file = files.find(({ path }) => path === definition);
  return file?.kind === 'text' ? file.text : '';
}

/** What systemd says about the unit; its program is there for this test. */
function verify(context: TestContext, plan: ServicePlan, scope: 'system' | 'user'): string {
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) context.skip('systemd-analyze does not run here');
  const unit = join(folder, 'tunnel-agent.service');
  writeFileSync(unit, unitOf(plan));
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', `--${scope}`, unit], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
  });
  return stderr
    .split('\n')
    .filter((line) => line.includes('tunnel-agent'))
    .join('\n');
}

describe('a unit of the system', () => {
  it('runs as an account of its own, hardened, with the key in its own folder', (context) => {
    const plan = systemdPlan(request(), 252);
    const unit = unitOf(plan);
    expect(unit).toMatch(/^# Made by gatehouse-agent service install/);
    expect(unit).toContain(
      `ExecStart="${process.execPath}" "/usr/local/lib/gatehouse-agent/tunnel-agent/gatehouse-agent.mjs" ` +
        '--config "${STATE_DIRECTORY}/config.yaml" --key-file "${STATE_DIRECTORY}/key"',
    );
    for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'ProtectHome=yes']) {
      expect(unit).toMatch(new RegExp(`^${line}$`, 'm'));
    }
    expect(plan.files.find(({ path }) => path === '/var/lib/private/tunnel-agent/key')).toEqual({
      path: '/var/lib/private/tunnel-agent/key',
      kind: 'private',
      text: `${KEY}\n`,
      isKey: true,
    });
    expect(verify(context, plan, 'system')).toBe('');
  });

  it('may run as another account and serve folders, whatever their names', (context) => {
    const fileRoots = ['/srv/100% "a" \\ b', '/home/ann/out $HOME'];
    const plan = systemdPlan(request({ runAs: 'ann', fileRoots, graceSeconds: 5 }), 252);
    const unit = unitOf(plan);
    expect(unit).toMatch(/^User=ann$/m);
    expect(unit).not.toContain('DynamicUser');
    expect(unit).toMatch(/^ProtectHome=read-only$/m);
    expect(unit).toMatch(/^TimeoutStopSec=15$/m);
    expect(unit).toContain(String.raw`ReadWritePaths="-/srv/100%% \"a\" \\ b"`);
    expect(plan.files.some(({ path }) => path === '/var/lib/tunnel-agent/key')).toBe(true);
    expect(verify(context, plan, 'system')).toBe('');
  });

  it('waits longer and longer where systemd can do that', () => {
    expect(unitOf(systemdPlan(request(), 254))).toContain('RestartSteps=6\nRestartMaxDelaySec=5min\n');
    expect(unitOf(systemdPlan(request(), 252))).not.toContain('RestartSteps');
  });

  it('is exposed little, in the opinion of systemd', (context) => {
    expect(verify(context, systemdPlan(request(), 252), 'system')).toBe('');
    const { stdout, status } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=yes', '--json=short', join(folder, 'tunnel-agent.service')],
      { encoding: 'utf8' },
    );
    if (status !== 0) context.skip('this systemd-analyze does not look at files: it is older than 250');
    const found = JSON.parse(stdout) as { set: boolean; exposure: string | null; name: string }[];
    expect(found.length).toBeGreaterThan(50);
    const open = found.filter(({ set, exposure }) => !set && Number(exposure ?? 0) >= 0.3).map(({ name }) => name);
    // It has to reach any address.
    expect(open.filter((name) => !/^(PrivateNetwork|RestrictAddressFamilies)/.test(name))).toEqual([]);
  });
});

describe('a unit of a user', () => {
  it('has its files in the home, for the user alone', (context) => {
    const home = '/home/an n%';
    const plan = systemdPlan(request({ scope: 'user', home, name: 'tunnel-agent-b' }), 252);
    expect(plan.definition).toBe(`${home}/.config/systemd/user/tunnel-agent-b.service`);
    expect(unitOf(plan)).toContain('--key-file "/home/an n%%/.config/gatehouse-agent/tunnel-agent-b.key"');
    expect(unitOf(plan)).toMatch(/^RuntimeDirectory=gatehouse-agent-b$/m);
    expect(unitOf(plan)).not.toContain('DynamicUser');
    expect(plan.start.flat()).toContain('--user');
    expect(verify(context, plan, 'user')).toBe('');
  });

  it('starts the executable with Node inside, too', () => {
    const plan = systemdPlan(request({ program: { executable: '/tmp/gatehouse-agent', script: null } }), 252);
    expect(unitOf(plan)).toContain('ExecStart="/usr/local/lib/gatehouse-agent/tunnel-agent/gatehouse-agent" --config');
    expect(plan.files[0]).toMatchObject({ kind: 'copy', of: '/tmp/gatehouse-agent' });
  });
});

it('the text of a plan does not have the key', () => {
  const text = planText(systemdPlan(request(), 252));
  expect(text).not.toContain(KEY);
  expect(text).toContain('(the key)');
  expect(text).toContain('server: gw.example.org');
  expect(text).toContain('systemctl enable --now tunnel-agent');
});
