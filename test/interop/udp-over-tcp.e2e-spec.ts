import type { ProxyNode } from '@gatehouse/contracts';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { startMihomo } from '../support/mihomo.js';
import { NodeRig } from '../support/node-rig.js';
import { optionalPeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';

const CIPHERS = {
  'aes-128-gcm': 'a-password-for-tests',
  '2022-blake3-aes-128-gcm': Buffer.alloc(16, 7).toString('base64'),
};
const programs = new Programs();
let rig: NodeRig | undefined;

beforeAll(async () => {
  const mihomo = findPeer('mihomo');
  if (!mihomo) return;
  const nodes = new Map<string, ProxyNode>();
  for (const [cipher, password] of Object.entries(CIPHERS)) {
    // Without UDP of its own: what arrives came over TCP.
    const listener = { type: 'shadowsocks', cipher, password, udp: false };
    const port = await startMihomo(programs, mihomo, listener);
    nodes.set(cipher, { type: 'ss', name: cipher, server: '127.0.0.1', port, cipher, password, udpOverTcp: true });
  }
  rig = await NodeRig.start(nodes);
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
});

function use(context: TestContext, tag: string): NodeRig {
  optionalPeer(context, 'mihomo');
  if (!rig) throw new Error('the servers were not started');
  rig.use(tag);
  return rig;
}

describe.each(Object.keys(CIPHERS))('Shadowsocks %s with UDP over TCP, by a real mihomo', (cipher) => {
  itCarries({ use: (context) => use(context, cipher), udp: true });
});
