import type { ProxyNode } from '@gatehouse/contracts';
import { findPeer, reservePort } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { itCarries } from '../support/carrying.js';
import { NodeRig } from '../support/node-rig.js';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { socksConnect } from '../support/socks-client.js';
import { sshdObstacle, startSshd, type RunningSshd } from '../support/sshd.js';

const programs = new Programs();
let rig: NodeRig | undefined;

beforeAll(async () => {
  const binary = findPeer('sshd');
  if (!binary || sshdObstacle(binary) !== null) return;
  const sshd = await startSshd(programs, binary);
  const { username, privateKey, hostKey } = sshd;
  const key = { username, 'private-key': privateKey };
  const foreign = (await startSshd(programs, binary)).hostKey;
  rig = await NodeRig.start(
    new Map([
      ['by key', nodeAt(sshd, { ...key, 'host-key': [hostKey] })],
      ['any host key', nodeAt(sshd, key)],
      ['another host key', nodeAt(sshd, { ...key, 'host-key': [foreign] })],
      ['another user', nodeAt(sshd, { ...key, username: 'somebody' })],
      ['a password', nodeAt(sshd, { username, password: 'wrong' })],
    ]),
  );
});

afterAll(async () => {
  await rig?.close();
  await programs.stopAll();
});

function nodeAt({ port }: RunningSshd, options: Record<string, unknown>): ProxyNode {
  return { type: 'ssh', name: 'ssh', server: '127.0.0.1', port, options };
}

function use(context: TestContext, tag: string): NodeRig {
  const obstacle = sshdObstacle(requirePeer(context, 'sshd'));
  if (obstacle !== null) context.skip(obstacle);
  if (!rig) throw new Error('the servers were not started');
  rig.use(tag);
  return rig;
}

describe('SSH with a private key and a known host key, by a real sshd', () => {
  itCarries({ use: (context) => use(context, 'by key'), udp: false });

  it('distinguishes a target that refuses from a server that refuses', async (context) => {
    const kernel = use(context, 'by key');
    await expect(socksConnect(kernel.proxyPort, await reservePort())).rejects.toThrow(/answered/);
    expect(await kernel.record()).toMatchObject({ errorStage: 'handshake', errorKind: 'unreachable' });
  });
});

describe('SSH, by a real sshd', () => {
  it('accepts any host key if the node names none', async (context) => {
    const kernel = use(context, 'any host key');
    const target = await kernel.listen((socket) => void socket.end());
    const client = await socksConnect(kernel.proxyPort, target);
    client.resume().end();
    expect(await kernel.record()).toMatchObject({ status: 'ok' });
  });

  for (const tag of ['another host key', 'another user', 'a password']) {
    it(`fails to sign in with ${tag}`, async (context) => {
      const kernel = use(context, tag);
      await expect(socksConnect(kernel.proxyPort, await reservePort())).rejects.toThrow(/answered/);
      expect(await kernel.record()).toMatchObject({ errorStage: 'handshake', errorKind: 'auth_failed' });
    });
  }
});
