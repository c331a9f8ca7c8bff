import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type {
  ConnectionListResponse,
  NodeView,
  ReloadResult,
  RuleView,
  TrafficLogListResponse,
} from '@gatehouse/contracts';
import { findPeer, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { curl } from '../support/curl.js';
import { havePeers, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { RunningProxyGateway } from '../support/proxy-gateway.js';
import { NginxOrigin } from '../support/web-origin.js';

const run = promisify(execFile);
const PEERS = ['nginx', 'ss-server', 'curl'];
const DOWNLOADS = 200;
const SIZE = 1_000_000;
/** Bytes/s: the first download is to be open still when the last one has begun, on a busy machine, too. */
const SLOW_RATE = '80k';
const METHOD = 'aes-256-gcm';
const PASSWORD = 'interop-password';

const programs = new Programs();
let gateway: RunningProxyGateway;
let origin: NginxOrigin;
let proxyPort: number;

function requirePeers(context: TestContext): void {
  for (const name of PEERS) requirePeer(context, name);
}

beforeAll(async () => {
  if (!havePeers(PEERS)) return; // each test says so itself
  gateway = await RunningProxyGateway.start();
  origin = await NginxOrigin.start(programs, findPeer('nginx')!, SLOW_RATE);
  origin.write('file', Buffer.alloc(SIZE, 0x67));
  const port = await programs.start(findPeer('ss-server')!, (candidate) =>
    `-s 127.0.0.1 -p ${candidate} -k ${PASSWORD} -m ${METHOD}`.split(' '),
  );
  const node = await gateway.call<NodeView>('POST', '/proxies', {
    name: 'real server',
    type: 'ss',
    raw_config: `ss://${Buffer.from(`${METHOD}:${PASSWORD}`).toString('base64url')}@127.0.0.1:${port}`,
  });
  const { generation } = await gateway.kernel();
  const target = `n${node.id}`;
  await gateway.call<RuleView>('POST', '/rules', { type: 'IP-CIDR', payload: '127.0.0.0/8', target, no_resolve: true });
  await waitFor(async () => (await gateway.kernel()).generation > generation);
  proxyPort = await gateway.proxyPort();
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await programs.stopAll();
  origin?.[Symbol.dispose]();
});

describe('a reload under load', () => {
  it(`loses no byte of ${DOWNLOADS} live downloads`, { timeout: 120_000 }, async (context) => {
    requirePeers(context);
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-downloads-'));
    const names = Array.from({ length: DOWNLOADS }, (_, index) => path.join(folder, String(index)));
    const config = path.join(folder, 'curl.conf');
    const url = `http://127.0.0.1:${origin.port}/slow/file`;
    writeFileSync(config, names.map((name) => `url = "${url}"\noutput = "${name}"\n`).join(''));
    const logged = await successfulLogs();
    const downloads = run(
      findPeer('curl')!,
      `-sS --fail --parallel --parallel-immediate --parallel-max ${DOWNLOADS} --max-time 100`
        .split(' ')
        .concat('-x', `socks5h://127.0.0.1:${proxyPort}`, '-K', config),
    );
    await waitFor(async () => (await openConnections()) === DOWNLOADS, { timeoutMs: 20_000 });
    for (let count = 0; count < 3; count++) {
      const reload = await gateway.call<ReloadResult>('POST', '/system/reload');
      expect(reload.dropped_connections).toBe(0);
    }
    expect(await openConnections()).toBe(DOWNLOADS);
    await downloads;
    expect(new Set(names.map((name) => statSync(name).size))).toEqual(new Set([SIZE]));
    rmSync(folder, { recursive: true });
    await waitFor(async () => (await successfulLogs()) === logged + DOWNLOADS);
  });

  async function openConnections(): Promise<number> {
    return (await gateway.call<ConnectionListResponse>('GET', '/connections')).count;
  }

  async function successfulLogs(): Promise<number> {
    const { items } = await gateway.call<TrafficLogListResponse>('GET', '/traffic-logs?limit=500');
    return items.filter(({ status, download }) => status === 'ok' && download > SIZE).length;
  }
});

describe('kill -9 of the kernel', () => {
  it('leaves the API up, and the kernel comes back on the same port with the same rules', async (context) => {
    requirePeers(context);
    const before = await gateway.kernel();
    expect(before.pid).not.toBeNull();
    process.kill(before.pid!, 'SIGKILL');
    const after = await waitFor(
      async () => {
        const status = await gateway.kernel(); // throws if the API is not there
        return status.state === 'running' && status.pid !== before.pid ? status : undefined;
      },
      { timeoutMs: 10_000 },
    );
    expect(after.restarts).toBe(before.restarts + 1);
    expect(after.listeners[0]?.port).toBe(proxyPort);
    const url = `http://127.0.0.1:${origin.port}/file`;
    const answer = await curl(findPeer('curl')!, ['-x', `socks5h://127.0.0.1:${proxyPort}`, url]);
    expect(answer).toEqual({ status: 200, bytes: SIZE });
  });
});
