import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboundCalls, type OutboundAnswer } from './outbound-calls.js';

let server: Server;
let asked: Socket[];
let answer: string | null;
let calls: OutboundCalls;
beforeEach(async () => {
  [asked, answer] = [[], null];
  server = createServer((socket) => {
    asked.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => answer !== null && socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  calls = new OutboundCalls({ timeoutMs: 60_000 });
});
afterEach(() => {
  calls.close();
  for (const socket of asked) socket.destroy();
  server.close();
});

function send(forClient: number): Promise<OutboundAnswer> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return calls.send({ url, method: 'GET', headers: {}, allowPrivate: true, forClient });
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const SWITCHES = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n';

describe('OutboundCalls', () => {
  it.each([
    ['switches to another protocol', SWITCHES],
    ['is no HTTP', 'SSH-2.0-odd\r\n'],
    ['breaks off', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1'],
  ])('releases the place of a call whose answer %s', async (_, odd) => {
    answer = odd;
    for (let round = 0; round < 3; round += 1) {
      const sent = Array.from({ length: 64 }, () => send(1).catch(({ code }: { code: string }) => code));
      await waitFor(() => asked.length >= 64);
      for (const socket of asked.splice(0)) socket.end();
      expect(new Set(await Promise.all(sent))).toEqual(new Set(['connection']));
    }
    answer = OK;
    expect((await send(1)).status).toBe(200);
  });

  it('limits each client, so that its servers cannot take the places of another', async () => {
    const waiting = Array.from({ length: 64 }, () => send(1));
    await waitFor(() => asked.length === 64);
    await expect(send(1)).rejects.toMatchObject({ code: 'overloaded' });
    answer = OK;
    expect((await send(2)).status).toBe(200);
    for (const socket of asked) socket.write(OK);
    await Promise.all(waiting);
    expect((await send(1)).status).toBe(200);
  });

  it('reads no more of a body than its bound, and ends the rest', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const bounded = { url, method: 'GET', headers: {}, allowPrivate: true, maxBytes: 5 } as const;
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345';
    expect((await calls.send(bounded)).body?.toString()).toBe('12345');
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n123456';
    expect(await calls.send(bounded)).toMatchObject({ status: 200, body: null });
    await waitFor(() => asked.every((socket) => socket.destroyed));
  });

  it('ends a call at its time limit, whatever the other side does', async () => {
    calls.close();
    calls = new OutboundCalls({ timeoutMs: 50 });
    await expect(send(1)).rejects.toMatchObject({ code: 'timeout' });
  });
});
