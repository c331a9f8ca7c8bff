import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ProxyNode } from '@gatehouse/contracts';
import { findPeer, reservePort } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { NodeRig } from '../support/node-rig.js';
import { optionalPeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { socksConnect } from '../support/socks-client.js';

interface Served {
  name: string;
  cipher: string;
  keyBytes: number;
  /** Users behind the one port, the last of which is ours. None: the server's key is the user's. */
  users: number;
}

const SERVED: Served[] = [
  { name: 'aes-128-gcm', cipher: '2022-blake3-aes-128-gcm', keyBytes: 16, users: 0 },
  { name: 'aes-256-gcm', cipher: '2022-blake3-aes-256-gcm', keyBytes: 32, users: 0 },
  { name: 'chacha20-poly1305', cipher: '2022-blake3-chacha20-poly1305', keyBytes: 32, users: 0 },
  { name: 'aes-128-gcm with several users', cipher: '2022-blake3-aes-128-gcm', keyBytes: 16, users: 3 },
  { name: 'aes-256-gcm with several users', cipher: '2022-blake3-aes-256-gcm', keyBytes: 32, users: 3 },
];
const programs = new Programs();
let rig: NodeRig | undefined;

beforeAll(async () => {
  const xray = findPeer('xray');
  if (!xray) return;
  const nodes = await startServers(xray);
  const wrong = nodes.get('aes-128-gcm');
  if (wrong?.type === 'ss') nodes.set('wrong key', { ...wrong, password: randomBytes(16).toString('base64') });
  rig = await NodeRig.start(nodes);
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
});

function use(context: TestContext, tag: string): NodeRig {
  optionalPeer(context, 'xray');
  if (!rig) throw new Error('the servers were not started');
  rig.use(tag);
  return rig;
}

async function startServers(xray: string): Promise<Map<string, ProxyNode>> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-ss2022-'));
  const config = path.join(folder, 'config.json');
  const nodes = new Map<string, ProxyNode>();
  const inbounds: object[] = [];
  for (const { name, cipher, keyBytes, users } of SERVED) {
    const port = await reservePort();
    const server = randomBytes(keyBytes).toString('base64');
    const clients = Array.from({ length: users }, (_, index) => ({
      password: randomBytes(keyBytes).toString('base64'),
      email: `user-${index}`,
    }));
    const settings = { method: cipher, password: server, network: 'tcp,udp', ...(users > 0 ? { clients } : {}) };
    inbounds.push({ listen: '127.0.0.1', port, protocol: 'shadowsocks', settings });
    const password = [server, ...clients.slice(-1).map((client) => client.password)].join(':');
    nodes.set(name, { type: 'ss', name, server: '127.0.0.1', port, cipher, password });
  }
  // The last inbound to be opened is the one that is waited for.
  await programs.start(xray, (port) => {
    const last = { listen: '127.0.0.1', port, protocol: 'socks', settings: { auth: 'noauth' } };
    const outbounds = [{ protocol: 'freedom', settings: { finalRules: [{ action: 'allow' }] } }];
    writeFileSync(config, JSON.stringify({ log: { loglevel: 'warning' }, inbounds: [...inbounds, last], outbounds }));
    return ['run', '-c', config];
  });
  rmSync(folder, { recursive: true });
  return nodes;
}

describe.each(SERVED)('Shadowsocks 2022 $name, by a real xray', ({ name }) => {
  itCarries({ use: (context) => use(context, name), udp: true });
});

describe('Shadowsocks 2022 with a key that the server does not have, by a real xray', () => {
  it('fails without a byte for the client', async (context) => {
    const kernel = use(context, 'wrong key');
    const target = await kernel.listen((socket) => void socket.end('hello'));
    const client = await socksConnect(kernel.proxyPort, target);
    client.write('x');
    let received = 0;
    client.on('data', (bytes: Buffer) => (received += bytes.length));
    client.resume();
    // The server neither answers nor closes at once: it must look like any other server.
    client.setTimeout(500, () => client.destroy());
    expect(await kernel.record()).toMatchObject({ download: 0 });
    expect(received).toBe(0);
  });
});
