/** `gatehouse-agent service`: the built program writes real files; a stand-in takes the calls of systemctl. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_FILE, AgentPrograms } from '../support/agent-program.js';
import { TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { exchange } from '../support/visitors.js';

const agents = new AgentPrograms(process.execPath);
const started: ChildProcess[] = [];
let yard: TunnelYard;
let client: YardClient;
let port: number;
let home: string;

beforeAll(async () => {
  yard = await TunnelYard.start();
  client = yard.client();
  port = await yard.open(client, [await yard.named('from the target')]);
});
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-home-'));
  // Notes what it is asked for, and says no to what a file names.
  const script = `#!/bin/sh\necho "$*" >> '${home}/calls'\n[ "$*" != "$(cat '${home}/refused' 2>/dev/null)" ]\n`;
  writeFileSync(path.join(home, 'systemctl'), script);
  chmodSync(path.join(home, 'systemctl'), 0o755);
});
afterEach(() => {
  agents.killAll();
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(home, { recursive: true });
});
afterAll(() => yard?.close());

async function service(
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<{ code: number | null; text: string }> {
  const agent = agents.start(['service', ...args], { HOME: home, PATH: `${home}:${process.env['PATH']}`, ...more });
  const code = await agent.code;
  return { code, text: agent.output() };
}

const calls = (): string[] => readFileSync(path.join(home, 'calls'), 'utf8').trim().split('\n');
const here = (...names: string[]): string => path.join(home, ...names);
const inHome = (): string[] => readdirSync(home).filter((name) => name.startsWith('.'));
const options = (): string[] => ['--user', '--server', `127.0.0.1:${yard.port}`, '--allow', '127.0.0.1'];

describe.skipIf(process.platform !== 'linux')('gatehouse-agent service --user', () => {
  it('writes a unit that starts a copy of the program with the settings, and removes all of it', async () => {
    const installed = await service(['install', ...options()], { GATEHOUSE_AGENT_KEY: client.key });
    expect(installed).toMatchObject({ code: 0, text: expect.stringContaining('loginctl enable-linger') });
    expect(installed.text).not.toContain(client.key);
    expect(calls().slice(1)).toEqual(['--user daemon-reload', '--user enable --now tunnel-agent']);
    const unit = readFileSync(here('.config/systemd/user/tunnel-agent.service'), 'utf8');
    expect(unit).not.toContain(client.key);
    for (const file of ['tunnel-agent.yaml', 'tunnel-agent.key']) {
      expect(statSync(here('.config/gatehouse-agent', file)).mode & 0o777).toBe(0o600);
    }

    const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [command = '', ...args] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    expect(args[0]).toBe(here('.local/share/gatehouse-agent/tunnel-agent/gatehouse-agent.mjs'));
    const child = spawn(command, args, { env: { RUNTIME_DIRECTORY: here('run') }, stdio: 'ignore' });
    started.push(child);
    await yard.online(client);
    expect(await exchange(port, '')).toBe('from the target');
    child.kill('SIGTERM');
    await once(child, 'exit');

    expect((await service(['status', '--user'])).code).toBe(0);
    writeFileSync(here('refused'), '--user is-active tunnel-agent');
    expect((await service(['status', '--user'])).code).toBe(8);
    expect((await service(['uninstall', '--user', '--dry-run'])).code).toBe(0);
    expect(existsSync(here('.config/gatehouse-agent/tunnel-agent.key'))).toBe(true);
    expect((await service(['uninstall', '--user'])).code).toBe(0);
    expect(calls().slice(-2)).toEqual(['--user disable --now tunnel-agent', '--user daemon-reload']);
    expect(spawnSync('find', [home, '-name', '*agent*'], { encoding: 'utf8' }).stdout).toBe('');
    expect((await service(['status', '--user'])).code).toBe(9);
    expect((await service(['uninstall', '--user'])).code).toBe(2);
  });

  it('writes nothing with --dry-run, and shows everything but the key', async () => {
    const { code, text } = await service(['install', '--dry-run', '--name', 'b', ...options(), '--key', client.key]);
    expect(code).toBe(0);
    expect(text).toContain('tunnel-agent-b.service');
    expect(text).toContain('allow:\n  - 127.0.0.1');
    expect(text).not.toContain(client.key);
    expect(inHome()).toEqual([]);
  });

  it('leaves nothing when systemd refuses, or when the settings are wrong', async () => {
    writeFileSync(here('refused'), '--user enable --now tunnel-agent');
    const refused = await service(['install', ...options(), '--key', client.key]);
    expect(refused).toMatchObject({ code: 2, text: expect.stringContaining('the service was not installed') });
    expect(spawnSync('find', [home, '-name', '*agent*'], { encoding: 'utf8' }).stdout).toBe('');
    const wrong = await service(['install', '--user', '--server', 'a:b:c', '--name', '../x']);
    expect(wrong.code).toBe(2);
    expect(wrong.text).toContain('is not a name for a service');
    const noKey = await service(['install', '--user', '--server', 'a:b:c']);
    expect(noKey.text).toMatch(/"a:b:c" is not a server[\s\S]*no key/);
    expect((await service(['instal'])).text).toContain('install, uninstall or status');
  });

  it('is refused to others than root for the system, before anything is written', (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can become another user');
    const args = [AGENT_FILE, 'service', 'install', ...options().slice(1), '--key', client.key];
    const env = { HOME: home, PATH: `${home}:${process.env['PATH']}` };
    const { status, stderr } = spawnSync(process.execPath, args, { env, uid: 65_534, encoding: 'utf8' });
    // A Node in a home is refused first.
    expect([status, /needs root|is in a home/.test(stderr)]).toEqual([2, true]);
    expect(existsSync(here('calls'))).toBe(false);
  });

  it('does not touch a unit that somebody else made', async () => {
    expect((await service(['install', ...options(), '--key', client.key])).code).toBe(0);
    const unit = here('.config/systemd/user/tunnel-agent.service');
    writeFileSync(unit, '[Unit]\n');
    for (const args of [
      ['install', ...options(), '--key', client.key],
      ['uninstall', '--user'],
    ]) {
      expect(await service(args)).toMatchObject({ code: 2, text: expect.stringContaining('stays as it is') });
    }
    expect(readFileSync(unit, 'utf8')).toBe('[Unit]\n');
  });
});

describe('gatehouse-agent service with a real systemd', () => {
  it('runs as an account of its own, and leaves nothing', async (context) => {
    if (process.env['GATEHOUSE_TEST_SYSTEMD'] !== '1') context.skip('it installs a service: GATEHOUSE_TEST_SYSTEMD=1');
    if (!existsSync('/run/systemd/system') || process.getuid?.() !== 0)
      context.skip('systemd, with root, does not run here');
    const run = (...args: string[]): Promise<{ code: number | null; text: string }> =>
      service([...args, '--name', `test-${process.pid}`], { PATH: process.env['PATH'] ?? '' });
    const name = `tunnel-agent-test-${process.pid}`;
    try {
      const installed = await run('install', ...options().slice(1), '--key', client.key);
      expect(installed).toMatchObject({ code: 0 });
      await waitFor(() => yard.server.agents().length === 1);
      expect(await exchange(port, '')).toBe('from the target');
      expect((await run('status')).code).toBe(0);
      const account = spawnSync('systemctl', ['show', '-p', 'DynamicUser', name], { encoding: 'utf8' });
      expect(account.stdout.trim()).toBe('DynamicUser=yes');
      // Its socket is beside those of services with other names.
      const asked = agents.start(['status', '--json'], { RUNTIME_DIRECTORY: '/run/gatehouse-agent' });
      expect(await asked.code).toBe(0);
      expect(asked.output()).toContain(`"gateway": "127.0.0.1:${yard.port}"`);
      // The settings and the key are replaced, and the account can read them.
      const before = yard.server.agents()[0]?.connectedAt ?? 0;
      expect((await run('install', ...options().slice(1), '--key', client.key)).code).toBe(0);
      await waitFor(() => (yard.server.agents()[0]?.connectedAt ?? 0) > before);
    } finally {
      await run('uninstall');
    }
    const places = ['/etc/systemd/system', '/usr/local/lib/gatehouse-agent', '/var/lib', '/var/lib/private', '/run'];
    for (const place of places) if (existsSync(place)) expect(readdirSync(place).join()).not.toContain(name);
  });
});
