import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ProxyNode } from '@gatehouse/contracts';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { NodeRig } from '../support/node-rig.js';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { CERTIFICATE, FINGERPRINT, PRIVATE_KEY } from '../support/tls-identity.js';

interface Served {
  name: string;
  program: 'obfs-server' | 'ss-v2ray-plugin';
  /** Arguments of the server, after its addresses. */
  args: string[];
  plugin: { name: string; options: Record<string, string | boolean> };
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-plugins-'));
const tls = ['-tls', '-cert', path.join(folder, 'cert.pem'), '-key', path.join(folder, 'key.pem')];
const webSocket = (name: string, args: string[], options: Record<string, string | boolean>): Served => ({
  name: `v2ray-plugin ${name}`,
  program: 'ss-v2ray-plugin',
  args: ['-path', '/tunnel', '-host', 'proxy.test', '-loglevel', 'none', ...args],
  plugin: { name: 'v2ray-plugin', options: { mode: 'websocket', host: 'proxy.test', path: '/tunnel', ...options } },
});
const obfs = (mode: string, options: Record<string, string> = {}): Served => ({
  name: `simple-obfs ${mode}`,
  program: 'obfs-server',
  args: ['--obfs', mode],
  plugin: { name: 'obfs', options: { mode, host: 'www.proxy.test', ...options } },
});
const overTls = { tls: true, fingerprint: FINGERPRINT };
const SERVED: Served[] = [
  obfs('http', { path: '/a' }),
  obfs('tls'),
  webSocket('multiplexed, as it is by default', [], {}),
  webSocket('without multiplexing', ['-mux', '0'], { mux: false }),
  webSocket('with TLS, multiplexed', tls, overTls),
  webSocket('with TLS, without multiplexing', ['-mux', '0', ...tls], { ...overTls, mux: false }),
];
const CIPHER = 'aes-256-gcm';
const PASSWORD = 'a-password-for-tests';
const programs = new Programs();
let rig: NodeRig | undefined;

beforeAll(async () => {
  writeFileSync(path.join(folder, 'cert.pem'), CERTIFICATE);
  writeFileSync(path.join(folder, 'key.pem'), PRIVATE_KEY, { mode: 0o600 });
  const server = findPeer('ss-server');
  if (!server) return;
  const behind = await programs.start(server, (port) => {
    const address = ['-s', '127.0.0.1', '-p', String(port)];
    return [...address, '-k', PASSWORD, '-m', CIPHER, '-t', '60'];
  });
  const nodes = new Map<string, ProxyNode>();
  for (const one of SERVED) {
    const binary = findPeer(one.program);
    if (!binary) continue;
    const port = await programs.start(binary, (candidate) => argumentsOf(one, candidate, behind));
    const { name, plugin } = one;
    nodes.set(name, { type: 'ss', name, server: '127.0.0.1', port, cipher: CIPHER, password: PASSWORD, plugin });
  }
  rig = await NodeRig.start(nodes);
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
  rmSync(folder, { recursive: true });
});

function argumentsOf({ program, args }: Served, port: number, behind: number): string[] {
  if (program === 'obfs-server') return ['-s', '127.0.0.1', '-p', String(port), '-r', `127.0.0.1:${behind}`, ...args];
  const listen = ['-server', '-localAddr', '127.0.0.1', '-localPort', String(port)];
  return [...listen, '-remoteAddr', '127.0.0.1', '-remotePort', String(behind), ...args];
}

function use(context: TestContext, { name, program }: Served): NodeRig {
  requirePeer(context, 'ss-server');
  requirePeer(context, program);
  if (!rig) throw new Error('the servers were not started');
  rig.use(name);
  return rig;
}

describe.each(SERVED)('Shadowsocks behind $name, by a real $program and ss-server', (served) => {
  itCarries({ use: (context) => use(context, served), udp: false });
});
