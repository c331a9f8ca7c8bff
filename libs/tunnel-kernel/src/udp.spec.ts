import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { TunnelRig, type TestClient } from '../test/tunnel-rig.js';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A UDP socket on loopback, with room for what a test sends at once. */
async function udp(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

async function echo(): Promise<number> {
  const socket = await udp();
  socket.on('message', (payload, { port, address }) => socket.send(payload, port, address));
  return socket.address().port;
}

async function ask(visitor: Socket, port: number, question: Buffer | string): Promise<Buffer> {
  const answer = once(visitor, 'message') as Promise<[Buffer, RemoteInfo]>;
  visitor.send(question, port, '127.0.0.1');
  return (await answer)[0];
}

let rig: TunnelRig;
let client: TestClient;

describe.each([
  ['UDP packets', true, false],
  ['TCP lanes', false, false],
  ['TCP lanes in TLS', false, true],
])('mode udp over %s', (_, packets, encrypt) => {
  beforeEach(async () => {
    rig = new TunnelRig();
    await rig.listen();
    client = rig.client(encrypt);
  });
  afterEach(() => rig.close());

  const start = async (target: number) => {
    const { agent } = rig.agent(client.key, { datagrams: { packets } });
    await rig.online(1);
    return { agent, port: await rig.tunnel(1, [target], { mode: 'udp' }) };
  };

  it('carries datagrams of any length both ways, and both sides count the same', async () => {
    const { port, agent } = await start(await echo());
    const visitor = await udp();
    let bytes = 0;
    for (const length of [0, 1, 1200, 1423, 1424, 1425, 1500, 9000, 32_768, 65_506, 65_507]) {
      const sent = randomBytes(length);
      const answer = await ask(visitor, port, sent);
      expect(answer.equals(sent)).toBe(true);
      bytes += length;
    }
    const counted = [{ upload: bytes, download: bytes, connections: 1 }];
    expect(rig.server.takeDeltas()).toMatchObject(counted);
    expect(agent.takeDeltas()).toMatchObject(counted);
  });
});
