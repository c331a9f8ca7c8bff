/** The agent with Node inside, made and run here, without a Node on its PATH. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CutLine, findPeer, Pebble, reservePort, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { havePeers, requirePeer } from '../support/peers.js';
import { askHttp } from '../support/raw-http.js';
import { RunningTunnelGateway } from '../support/tunnel-gateway.js';

const run = promisify(execFile);
const MANIFEST = new URL('../../apps/tunnel-agent/package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
const COMMANDS = fileURLToPath(new URL('../../tools/dist/cli.js', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const canMake = major > 25 || (major === 25 && minor >= 7);
const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-agent-executable-'));
const program = path.join(folder, `gatehouse-agent-${process.platform}-${process.arch}`);
const started: ChildProcess[] = [];
let gateway: RunningTunnelGateway | undefined;
let site: Server | undefined;

/** No Node is found there, and what it would be given is not for the agent. */
const environment = {
  PATH: path.join(folder, 'nothing'),
  RUNTIME_DIRECTORY: path.join(folder, 'run'),
  NODE_OPTIONS: '--require /no/such/file.js',
};

const PEBBLE = ['pebble', 'pebble-challtestsrv'];
let pebble: Pebble | undefined;

beforeAll(async () => {
  if (!canMake) return;
  mkdirSync(environment.PATH);
  await run(process.execPath, [COMMANDS, 'agent-executable', '--out', folder]);
  const ports = { http: await reservePort(), https: await reservePort() };
  if (havePeers(PEBBLE)) {
    const [authority = '', names = ''] = PEBBLE.map((name) => findPeer(name));
    pebble = await Pebble.start({ programs: { pebble: authority, names }, ports });
  }
  gateway = await RunningTunnelGateway.start('password', {
    TUNNEL_HTTP_PORT: String(ports.http),
    TUNNEL_HTTPS_PORT: String(ports.https),
    ...(pebble && {
      ACME_DIRECTORY_URL: pebble.directory,
      ACME_CA_FILE: pebble.authorityFile,
      ACME_AGREE_TERMS: 'true',
    }),
  });
  site = createServer((_, response) => response.end('from the site')).listen(0, '127.0.0.1');
  await once(site, 'listening');
}, 300_000);
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  site?.close();
  await gateway?.[Symbol.asyncDispose]();
  await pebble?.close();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canMake)(`the agent's executable (made by Node 25.7 or newer; this is ${process.version})`, () => {
  it('says its version, and is what a service would start', async () => {
    expect((await run(program, ['--version'], { env: environment })).stdout).toBe(`${version}\n`);
    const args = ['service', 'install', '--dry-run', '--user', '--server', 'gw', '--key', await newKey()];
    const { stdout } = await run(program, args, { env: { ...environment, HOME: folder } });
    expect(stdout).toContain(`a copy of ${program})`);
    expect(stdout).toContain(
      `ExecStart="${folder}/.local/share/gatehouse-agent/tunnel-agent/gatehouse-agent" --config`,
    );
  });

  it('connects to a gateway, carries a request, and says so', async () => {
    const { id, key } = await gateway!.call('POST', '/clients', { name: 'executable' });
    const { port } = site!.address() as AddressInfo;
    const host = 'executable.example.org';
    await gateway!.call('POST', '/hosts', { client_id: id, host, target_addr: `http://127.0.0.1:${port}` });
    const args = ['--server', `127.0.0.1:${gateway!.ports.agents}`, '--log', 'text'];
    const child = spawn(program, args, { env: { ...environment, GATEHOUSE_AGENT_KEY: key }, stdio: 'pipe' });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
    await waitFor(() => output.includes('online'));
    const answer = await waitFor(async () => {
      const asked = await askHttp({ port: gateway!.ports.http, host });
      return asked.status === 200 ? asked : undefined;
    });
    expect(answer.body).toBe('from the site');
    // 66 MiB here; docs/tunnel-agent.md.
    if (process.platform === 'linux') expect(residentMiB(child.pid!)).toBeLessThan(80);
    const { stdout } = await run(program, ['status', '--json'], { env: environment });
    expect(JSON.parse(stdout)).toMatchObject({ agents: [{ pid: child.pid, version, state: 'online' }] });
    child.kill('SIGTERM');
    expect((await once(child, 'close'))[0]).toBe(0);
  });
});

describe.skipIf(!canMake)('a day of a stranger, whose machine has the executable and nothing else', () => {
  const home = path.join(folder, 'home');
  const own = { ...environment, HOME: home };
  const inHome = (): string[] => readdirSync(home, { recursive: true }) as string[];

  /** Its exit code, and all that it prints. */
  async function agent(args: readonly string[], more: Record<string, string> = {}): Promise<[number | null, string]> {
    const child = start(args, more);
    const [code] = (await once(child.process, 'close')) as [number | null];
    return [code, child.output()];
  }

  function start(args: readonly string[], more: Record<string, string> = {}, file = program) {
    const child = spawn(file, args, { env: { ...own, ...more }, stdio: 'pipe' });
    started.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
    return { process: child, output: () => output };
  }

  /** What systemd would do. */
  function startUnit(): ReturnType<typeof start> {
    const unit = readFileSync(path.join(home, '.config/systemd/user/tunnel-agent.service'), 'utf8');
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [file = '', ...args] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, text, plain]) => text ?? plain ?? '');
    return start(args, {}, file);
  }

  async function stop(child: ReturnType<typeof start>): Promise<void> {
    child.process.kill('SIGTERM');
    expect((await once(child.process, 'close'))[0]).toBe(0);
  }

  async function logIn(at: RunningTunnelGateway): Promise<void> {
    const child = start(['login', at.url]);
    const code = await waitFor(() => /enter the code ([A-Z]{4}-[A-Z]{4})/.exec(child.output())?.[1]);
    await at.call('POST', '/auth/device/decide', { user_code: code, approved: true, current_password: at.password });
    expect((await once(child.process, 'close'))[0]).toBe(0);
  }

  /** A client with a host, as the stranger makes them in the console. */
  async function hostAt(at: RunningTunnelGateway, host: string, more: object): Promise<{ id: number; key: string }> {
    const { id, key } = await at.call('POST', '/clients', { name: 'laptop' });
    const { port } = site!.address() as AddressInfo;
    await at.call('POST', '/hosts', { client_id: id, host, target_addr: `http://127.0.0.1:${port}`, ...more });
    return { id, key };
  }

  const install = (server: string, key: string): Promise<[number | null, string]> =>
    agent(['service', 'install', '--user', '--server', server, '--allow', '127.0.0.1'], { GATEHOUSE_AGENT_KEY: key });

  /** All that a user can leave at a gateway. */
  async function leftAt(at: RunningTunnelGateway): Promise<unknown> {
    const ids: unknown[] = [];
    for (const what of ['clients', 'tunnels', 'hosts', 'certificates', 'api-keys']) {
      const { items } = await at.call('GET', `/${what}`);
      ids.push([what, items.map((row: { id?: number; host_id?: number }) => row.id ?? row.host_id)]);
    }
    return ids;
  }

  /** What a visitor gets who trusts the authority and nobody else; null: nothing, or not from the site. */
  async function visitSafely(host: string, ca: string): Promise<string | null> {
    const asked = requestHttps({ host: '127.0.0.1', port: gateway!.ports.https, servername: host, ca, agent: false });
    asked.setHeader('host', host);
    return new Promise((resolve) => {
      asked.on('error', () => resolve(null));
      asked.on('response', (answer) => {
        let body = '';
        answer.on('data', (part) => (body += String(part)));
        answer.on('end', () => resolve(answer.statusCode === 200 ? body : null));
      });
      asked.end();
    });
  }

  it('installs, publishes with TLS, loses the network, moves to another gateway, and leaves nothing', async (context) => {
    for (const name of PEBBLE) requirePeer(context, name);
    mkdirSync(home);
    await using next = await RunningTunnelGateway.start('password', { TUNNEL_PUBLISH_DOMAIN: 'next.example.org' });
    const before = [await leftAt(gateway!), await leftAt(next)];
    const name = 'day.example.org';
    const { id, key } = await hostAt(gateway!, name, { auto_https: 1 });
    const line = await CutLine.to({ host: '127.0.0.1', port: gateway!.ports.agents });

    // Without systemd there is no service, and nothing stays of the attempt.
    const [refused, why] = await install(`127.0.0.1:${line.port}`, key);
    expect([refused, why]).toEqual([2, expect.stringMatching(/the service was not installed: .*systemctl/)]);
    expect(inHome()).toEqual([]);
    // A stand-in for systemctl: what is written is real, and this test starts it in place of systemd.
    const systemctl = path.join(environment.PATH, 'systemctl');
    writeFileSync(systemctl, '#!/bin/sh\n', { mode: 0o755 });

    expect((await install(`127.0.0.1:${line.port}`, key))[0]).toBe(0);
    let unit = startUnit();
    const root = await pebble!.root();
    expect(await waitFor(() => visitSafely(name, root), { timeoutMs: 30_000 })).toBe('from the site');

    line.cut();
    await waitFor(async () => (await visitSafely(name, root)) === null);
    await waitFor(() => unit.output().includes('"waiting"'));
    line.mend();
    await waitFor(() => visitSafely(name, root), { timeoutMs: 20_000 });

    const moved = await hostAt(next, name, {});
    expect((await install(`127.0.0.1:${next.ports.agents}`, moved.key))[0]).toBe(0);
    await stop(unit);
    unit = startUnit();
    await gateway!.call('DELETE', `/clients/${id}`);
    const visit = async (host: string): Promise<boolean> =>
      (await askHttp({ port: next.ports.http, host })).body === 'from the site';
    await waitFor(() => visit(name));
    await logIn(next);
    const publishing = start(['http', String((site!.address() as AddressInfo).port), '--log', 'text']);
    const short = await waitFor(() => /http:\/\/([a-z2-9]+\.next\.example\.org):/.exec(publishing.output())?.[1]);
    await waitFor(() => visit(short));

    await stop(publishing);
    await stop(unit);
    expect((await agent(['service', 'uninstall', '--user']))[0]).toBe(0);
    expect((await agent(['logout']))[0]).toBe(0);
    await next.call('DELETE', `/clients/${moved.id}`);
    expect([inHome(), readdirSync(environment.RUNTIME_DIRECTORY)]).toEqual([[], []]);
    expect([await leftAt(gateway!), await leftAt(next)]).toEqual(before);
    await line.close();
    rmSync(systemctl);
  }, 90_000);
});

function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

async function newKey(): Promise<string> {
  return (await gateway!.call('POST', '/clients', { name: 'for a service' })).key;
}
