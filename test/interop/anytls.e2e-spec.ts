import type { ProxyNode } from '@gatehouse/contracts';
import { findPeer } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { startMihomo } from '../support/mihomo.js';
import { NodeRig } from '../support/node-rig.js';
import { optionalPeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { readExactly, socksConnect } from '../support/socks-client.js';
import { CERTIFICATE, FINGERPRINT, PRIVATE_KEY } from '../support/tls-identity.js';

const PASSWORD = 'a-password-for-tests';
/** Other than the protocol's own: the client learns it from the first session. */
const SCHEME = 'stop=3\n0=40-60\n1=200-300,c,500-600\n2=10-20,c,50-60';
const programs = new Programs();
let rig: NodeRig | undefined;

beforeAll(async () => {
  const mihomo = findPeer('mihomo');
  if (!mihomo) return;
  const nodes = new Map<string, ProxyNode>();
  for (const [name, scheme] of [
    ['default', ''],
    ['own', SCHEME],
  ] as const) {
    const port = await startMihomo(programs, mihomo, listener(scheme));
    nodes.set(name, nodeAt(port, PASSWORD));
    if (name === 'default') nodes.set('wrong password', nodeAt(port, 'another'));
  }
  rig = await NodeRig.start(nodes);
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
});

function listener(scheme: string): Record<string, unknown> {
  const identity = { certificate: CERTIFICATE, 'private-key': PRIVATE_KEY };
  const padding = scheme === '' ? {} : { 'padding-scheme': scheme };
  return { type: 'anytls', users: { ann: PASSWORD }, ...identity, ...padding };
}

function nodeAt(port: number, password: string): ProxyNode {
  const options = { password, sni: 'proxy.test', fingerprint: FINGERPRINT };
  return { type: 'anytls', name: 'anytls', server: '127.0.0.1', port, udp: true, options };
}

function use(context: TestContext, tag: string): NodeRig {
  optionalPeer(context, 'mihomo');
  if (!rig) throw new Error('the servers were not started');
  rig.use(tag);
  return rig;
}

describe('AnyTLS, by a real mihomo', () => {
  itCarries({ use: (context) => use(context, 'default'), udp: true });
});

describe('AnyTLS with a padding scheme of the server, by a real mihomo', () => {
  itCarries({ use: (context) => use(context, 'own'), udp: true });

  it('carries one flow after another', async (context) => {
    const kernel = use(context, 'own');
    const target = await kernel.listen((socket) => socket.pipe(socket));
    for (let round = 1; round <= 20; round += 1) {
      const client = await socksConnect(kernel.proxyPort, target);
      client.write(`round ${round}`);
      const answer = await readExactly(client, `round ${round}`.length);
      expect(answer.toString()).toBe(`round ${round}`);
      client.resetAndDestroy();
      await expect.poll(() => kernel.records.length).toBe(round);
    }
  });
});

describe('AnyTLS with a password that the server does not have, by a real mihomo', () => {
  it('fails without a byte for the client', async (context) => {
    const kernel = use(context, 'wrong password');
    const target = await kernel.listen((socket) => void socket.end('hello'));
    const client = await socksConnect(kernel.proxyPort, target);
    client.on('data', () => expect.unreachable());
    client.write('x');
    client.resume();
    expect(await kernel.record()).toMatchObject({ download: 0, status: 'failed' });
  });
});
