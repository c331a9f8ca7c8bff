import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  EMPTY_CONFIG,
  formatAgentKey,
  formatVisitorKey,
  TunnelServer,
  type ClientRecord,
} from '@gatehouse/tunnel-kernel';
import { peerOrSkip, waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_VERSION } from '../src/version.js';

/** The file that people run: `npm run build` makes it. */
const BUNDLE = fileURLToPath(new URL('../dist/gatehouse-agent.mjs', import.meta.url));
/** The Node that runs the tests, and the oldest that the agent is promised to run with. */
const NODES = ['the Node of the tests', 'node-20.19.0'];
const quiet = (): void => undefined;

let node: string;
/** Where `status` finds the agents. */
let folder: string;
let server: TunnelServer;
let target: Server;
let door: number;
let port: number;
let record: ClientRecord;
let key: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-agent-run-'));
  const identity = createServerIdentity();
  const secret = createAgentSecret();
  record = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: true };
  key = formatAgentKey({ secret, fingerprint: identity.fingerprint });
  server = new TunnelServer({
    now: Date.now,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    identity,
    clients: { findByKeyHash: async (hash) => (hash === record.keyHash ? record : null) },
  });
  door = await server.listen({ host: '127.0.0.1', port: 0 });
  target = createServer((socket) => socket.on('error', quiet).end('from the target')).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const clients = [{ id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 }];
  const targets = [{ host: '127.0.0.1', port: (target.address() as AddressInfo).port, weight: 1 }];
  const listen = { host: '127.0.0.1', port: 0 };
  const tunnels = [{ id: 7, clientId: 1, mode: 'tcp' as const, listen, targets }];
  const [state] = await server.apply({ ...EMPTY_CONFIG, revision: 1, clients, tunnels });
  port = state?.port ?? 0;
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await server.stop();
  target.close();
  rmSync(folder, { recursive: true });
});

interface Started {
  child: ChildProcess;
  output: () => string;
  code: Promise<number | null>;
}

function start(args: string[], environment: Record<string, string> = {}): Started {
  const child = spawn(node, [BUNDLE, ...args], { env: { RUNTIME_DIRECTORY: folder, ...environment }, stdio: 'pipe' });
  children.push(child);
  let text = '';
  child.stdout.on('data', (part) => (text += String(part)));
  child.stderr.on('data', (part) => (text += String(part)));
  return { child, output: () => text, code: once(child, 'close').then(([code]) => code as number | null) };
}

async function visit(): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  let text = '';
  socket.on('data', (part) => (text += String(part)));
  const [error] = await Promise.race([once(socket, 'end').then(() => []), once(socket, 'error')]).catch((e) => [e]);
  socket.destroy();
  return error ? ((error as NodeJS.ErrnoException).code ?? 'error') : text;
}

describe.each(NODES)('gatehouse-agent on %s', (program) => {
  beforeEach((context) => {
    if (program === NODES[0]) node = process.execPath;
    else node = peerOrSkip(program) ?? context.skip(`${program} is not installed: npm run peers`);
  });

  it('makes a target reachable, shows what it exposes and exits with 0 on request', async () => {
    const agent = start(['--server', `127.0.0.1:${door}`, '--log', 'text'], { GATEHOUSE_AGENT_KEY: key });
    await waitFor(() => agent.output().includes('online') && agent.output().includes('REACHED AT'));
    expect(await visit()).toBe('from the target');
    expect(server.agents()[0]?.software).toBe(`gatehouse-agent/${AGENT_VERSION}`);
    expect(agent.output()).not.toContain(key);
    agent.child.kill('SIGTERM');
    expect(await agent.code).toBe(0);
    expect(agent.output()).toContain('stopped');
  });

  it('refuses what is not on its list', async () => {
    const agent = start(['--server', `127.0.0.1:${door}`, '--key', key, '--allow', '10.0.0.0/8', '--log', 'json']);
    await waitFor(() => server.agents().length === 1);
    expect(await visit()).toBe('ECONNRESET');
    expect(agent.output()).toContain('"message":"configured"');
  });

  it('lets what runs go on after SIGTERM, as long as the grace', async () => {
    const held = createServer((socket) => socket.on('error', quiet).on('data', (part) => socket.write(part)));
    held.listen((target.address() as AddressInfo).port, '127.0.0.2');
    await once(held, 'listening');
    const targets = [{ host: '127.0.0.2', port: (held.address() as AddressInfo).port, weight: 1 }];
    const clients = [{ id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 }];
    const tunnels = [{ id: 7, clientId: 1, mode: 'tcp' as const, listen: { host: '127.0.0.1', port: 0 }, targets }];
    const [state] = await server.apply({ ...EMPTY_CONFIG, revision: 2, clients, tunnels });
    const agent = start(['--server', `127.0.0.1:${door}`, '--key', key]);
    await waitFor(() => server.agents().length === 1);
    const socket = connect({ port: state?.port ?? 0, host: '127.0.0.1' });
    socket.write('one');
    await once(socket, 'data');
    agent.child.kill('SIGTERM');
    await waitFor(() => server.agents().length === 0);
    socket.write('two');
    expect(String((await once(socket, 'data'))[0])).toBe('two');
    socket.end();
    expect(await agent.code).toBe(0);
    held.close();
  });

  it('ends with 3 when the key is refused, and says what to do', async () => {
    const fingerprint = key.split('.')[2] ?? '';
    const agent = start(['--server', `127.0.0.1:${door}`, '--log', 'text'], {
      GATEHOUSE_AGENT_KEY: formatAgentKey({ secret: createAgentSecret(), fingerprint }),
    });
    expect(await agent.code).toBe(3);
    expect(agent.output()).toContain('ask for the new one');
  });

  it('ends with 4 at a server that is not the one of its key', async () => {
    const elsewhere = formatAgentKey({
      secret: createAgentSecret(),
      fingerprint: Buffer.alloc(32).toString('base64url'),
    });
    const agent = start(['--server', `127.0.0.1:${door}`, '--key', elsewhere]);
    expect(await agent.code).toBe(4);
  });

  it('ends with 5 when another agent takes over', async () => {
    const first = start(['--server', `127.0.0.1:${door}`, '--key', key]);
    await waitFor(() => server.agents().length === 1);
    const second = start(['--server', `127.0.0.1:${door}`, '--key', key]);
    expect(await first.code).toBe(5);
    second.child.kill('SIGTERM');
    expect(await second.code).toBe(0);
  });

  it('ends with 2 and all problems when it is used wrongly', async () => {
    const agent = start(['--server', 'a:b:c', '--log', 'loud']);
    expect(await agent.code).toBe(2);
    expect(agent.output()).toMatch(/"a:b:c" is not a server[\s\S]*no key[\s\S]*"loud" is not a log format/);
  });

  it('visits a tunnel without a port: a local one that leads there', async () => {
    const clients = [{ id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 }];
    const secret = createAgentSecret();
    const targets = [{ host: '127.0.0.1', port: (target.address() as AddressInfo).port, weight: 1 }];
    const visitorKeyHash = agentKeyHash(secret);
    const listen = { host: '127.0.0.1', port: 0 };
    const tunnels = [{ id: 9, clientId: 1, mode: 'secret' as const, listen, targets, visitorKeyHash }];
    await server.apply({ ...EMPTY_CONFIG, revision: 2, clients, tunnels });
    start(['--server', `127.0.0.1:${door}`, '--key', key]);
    await waitFor(() => server.agents().length === 1);
    const fingerprint = key.split('.')[2] ?? '';
    const options = ['visit', '--server', `127.0.0.1:${door}`, '--listen', '127.0.0.1:0', '--log', 'text'];
    const visitorKey = formatVisitorKey({ tunnelId: 9, secret, fingerprint });
    const visitor = start(options, { GATEHOUSE_VISITOR_KEY: visitorKey });
    await waitFor(() => visitor.output().includes('leads to the tunnel'));
    port = Number(/127\.0\.0\.1:(\d+) leads/.exec(visitor.output())?.[1]);
    expect(await visit()).toBe('from the target');
    visitor.child.kill('SIGTERM');
    expect(await visitor.code).toBe(0);
    const wrong = formatVisitorKey({ tunnelId: 9, secret: createAgentSecret(), fingerprint });
    expect(await start([...options, '--key', wrong]).code).toBe(3);
    expect(await start(['visit', '--listen', 'x']).code).toBe(2);
  });

  it("says its version, which is the package's", async () => {
    const agent = start(['--version']);
    expect(await agent.code).toBe(0);
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(agent.output().trim()).toBe(manifest.version);
  });
});
