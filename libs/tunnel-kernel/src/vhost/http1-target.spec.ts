import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { waitFor } from '@gatehouse/testing';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Http1Target } from './http1-target.js';

let server: Server;
let answer: RequestListener;
let target: Http1Target;
let time: number;
let opened: Socket[];
let failure: Error | null;
beforeEach(async () => {
  [time, opened, failure] = [1_000_000, [], null];
  answer = (request, response) => void response.end(request.url);
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  target = new Http1Target({ connect: () => open(), answerMs: 60_000, now: () => time });
});
afterEach(async () => {
  await target.destroy();
  server.closeAllConnections();
  server.close();
});

async function open(): Promise<Socket> {
  if (failure) throw failure;
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  opened.push(socket);
  return socket;
}

/** Answers the body, when the connection may be used again: a turn of the event loop after the end. */
async function ask(path: string, more: Partial<Dispatcher.DispatchOptions> = {}): Promise<string> {
  const body = await send(path, more);
  await turn();
  await turn();
  return body;
}

function send(path: string, more: Partial<Dispatcher.DispatchOptions>): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    target.dispatch(
      { method: 'GET', path, ...more },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => void (body += chunk.toString()),
        onResponseEnd: () => resolve(body),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

describe('connections to a target', () => {
  it('serve one request after another', async () => {
    for (const path of ['/1', '/2', '/3']) expect(await ask(path)).toBe(path);
    expect(opened).toHaveLength(1);
  });

  it('are as many as there are requests, and stay for the next ones', async () => {
    const held: ServerResponse[] = [];
    answer = (_, response) => void held.push(response);
    const first = [ask('/1'), ask('/2'), ask('/3')];
    await waitFor(() => held.length === 3);
    for (const response of held) response.end('late');
    expect(await Promise.all(first)).toEqual(['late', 'late', 'late']);
    answer = (_, response) => void response.end('soon');
    expect(await Promise.all([ask('/4'), ask('/5'), ask('/6')])).toEqual(['soon', 'soon', 'soon']);
    expect(opened).toHaveLength(3);
  });

  it('are closed after five minutes, or when the clock went back', async () => {
    await ask('/1');
    time += 299_999;
    await ask('/2');
    expect(opened).toHaveLength(1);
    time += 1;
    await ask('/3');
    expect(opened).toHaveLength(2);
    await waitFor(() => opened[0]?.destroyed === true);
    time -= 1;
    await ask('/4');
    expect(opened).toHaveLength(3);
  });

  it('that could not be opened are not retried', async () => {
    failure = new Error('no way');
    await expect(ask('/1')).rejects.toBe(failure);
    failure = null;
    expect(await ask('/2')).toBe('/2');
    expect(opened).toHaveLength(1);
  });

  it('that the target closed are not used again', async () => {
    await ask('/1');
    server.closeAllConnections();
    await waitFor(() => opened[0]?.destroyed === true);
    expect(await ask('/2')).toBe('/2');
    expect(opened).toHaveLength(2);
  });

  it('are not used for a request that cannot be written', async () => {
    await ask('/1');
    await expect(ask('/2', { headers: { 'bad name': 'x' } })).rejects.toThrow('invalid');
    expect(await ask('/3')).toBe('/3');
    expect(opened).toHaveLength(1);
  });

  it('close after their current request once they are no longer wanted', async () => {
    const held: ServerResponse[] = [];
    answer = (_, response) => void held.push(response);
    const last = ask('/1');
    await waitFor(() => held.length === 1);
    const closed = target.close();
    await expect(ask('/2')).rejects.toMatchObject({ code: 'UND_ERR_CLOSED' });
    held[0]?.end('whole');
    expect(await last).toBe('whole');
    await closed;
    expect(opened[0]?.destroyed).toBe(true);
  });
});
