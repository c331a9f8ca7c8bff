import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TunnelRig } from '../../test/tunnel-rig.js';

const MOST = 16;
const quiet = (): void => undefined;
let rig: TunnelRig;
const sockets: Socket[] = [];
beforeEach(async () => {
  rig = new TunnelRig({ maxUnidentified: MOST, timeouts: { handshake: 60_000 } });
  await rig.listen();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await rig.close();
});

/** From an address of its own for each `index`: all of 127/8 is this machine. */
async function comeFrom(index: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: rig.port, localAddress: `127.0.1.${index + 1}` });
  sockets.push(socket.on('error', quiet));
  socket.resume();
  await once(socket, 'connect');
  return socket;
}

/** What a TLS client says first. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connectTls({ host: '127.0.0.1', port, ALPNProtocols: ['gwt/1'] }).on('error', quiet);
  const [accepted] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(accepted.on('error', quiet), 'data')) as [Buffer];
  for (const socket of [client, accepted]) socket.destroy();
  server.close();
  return hello;
}

async function finishTls(index: number, protocol: string): Promise<TLSSocket> {
  const socket = await comeFrom(index);
  const secured = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  secured.on('error', quiet);
  await once(secured, 'secureConnect');
  return secured;
}

/** An agent that has not been here before, in a new TLS handshake. */
async function newAgentComes(): Promise<void> {
  const { key, record } = rig.client();
  rig.agent(key);
  await rig.online(record.id);
}

const halves: Record<string, (socket: Socket) => unknown> = {
  'say one byte of TLS and no more': (socket) => socket.write(Buffer.of(22)),
  'say one byte of TLS and end': (socket) => socket.end(Buffer.of(22)),
  'say one byte of TLS and reset': (socket) => socket.write(Buffer.of(22), () => socket.resetAndDestroy()),
  'say what is not TLS after one byte of it': (socket) => socket.write(Buffer.alloc(200, 22)),
  'say all of a first message and no more': async (socket) => socket.write(await clientHello()),
  'say all of a first message and end': async (socket) => socket.end(await clientHello()),
};

describe('the port for agents', () => {
  it.each(Object.entries(halves))('accepts a new agent after all places for %s were taken', async (_, begin) => {
    for (let index = 0; index < MOST + 2; index++) await begin(await comeFrom(index));
    await newAgentComes();
  });

  it.each(['gwt/1', 'gwv/1', 'gwr/1'])(
    'accepts a new agent after all places were taken by connections that never show a key for %s',
    async (protocol) => {
      const all: TLSSocket[] = [];
      for (let index = 0; index < MOST + 2; index++) all.push(await finishTls(index, protocol));
      await waitFor(() => rig.server.agentPort().evicted === 2);
      expect(rig.server.agentPort()).toMatchObject({ handshaking: 0, unauthenticated: MOST, most: MOST });
      await waitFor(() => all[0]?.destroyed && all[1]?.destroyed);
      await newAgentComes();
    },
  );

  it('frees the places of closed connections at once', async () => {
    const hello = await clientHello();
    for (const begin of [(one: Socket) => one.end(Buffer.of(22)), (one: Socket) => one.end(hello)]) {
      for (let index = 0; index < 4; index++) {
        const socket = await comeFrom(index);
        begin(socket);
        // The server ends it, too: no half of it stays open.
        if (!socket.destroyed) await once(socket, 'close');
      }
    }
    await waitFor(() => rig.server.agentPort().handshaking === 0);
    expect(rig.server.agentPort()).toMatchObject({ silent: 0, handshaking: 0, unauthenticated: 0, evicted: 0 });
  });

  it('gives one source at most a quarter of the places', async () => {
    const others = await Promise.all([1, 2].map((index) => comeFrom(index)));
    for (const other of others) other.write(Buffer.of(22));
    await waitFor(() => rig.server.agentPort().handshaking === 2);
    for (let count = 0; count < 3 * MOST; count++) (await comeFrom(9)).write(Buffer.of(22));
    await waitFor(() => rig.server.agentPort().evicted >= 3 * MOST - MOST / 4);
    expect(others.map((other) => other.destroyed)).toEqual([false, false]);
    expect(rig.server.agentPort().handshaking).toBeLessThanOrEqual(2 + MOST / 4);
  });

  it('does not count agents and visitors that have shown their key', async () => {
    await newAgentComes();
    await waitFor(() => {
      const { silent, handshaking, unauthenticated } = rig.server.agentPort();
      return silent + handshaking + unauthenticated === 0 && rig.idleChannels > 0;
    });
  });
});

describe('time limits of the port for agents', () => {
  it('end a slow handshake and a connection that never shows a key', async () => {
    await rig.server.stop();
    rig = new TunnelRig({ timeouts: { handshake: 300 } });
    await rig.listen();
    const [slow, hello] = [await comeFrom(0), await clientHello()];
    const silent = await Promise.all(
      [1, 2, 3].map((index) => finishTls(index, ['gwt/1', 'gwv/1', 'gwr/1'][index - 1] ?? '')),
    );
    let sent = 0;
    const timer = setInterval(() => slow.write(hello.subarray(sent, ++sent)), 20);
    await waitFor(() => [slow, ...silent].every((socket) => socket.destroyed));
    clearInterval(timer);
    expect(sent).toBeLessThan(hello.length);
    expect(rig.server.agentPort()).toMatchObject({ silent: 0, handshaking: 0, unauthenticated: 0, evicted: 0 });
  });
});
