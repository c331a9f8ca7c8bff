import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveInTurn } from './request-turns.js';

let server: Server;
let client: Socket;
/** Requests whose turn has come. */
let served: string[];
let held: ServerResponse[];
let gone: string[];

function serve(request: IncomingMessage, response: ServerResponse): void {
  served.push(`${request.method} ${request.url}`);
  response.on('close', () => gone.push(String(request.url)));
  request.resume();
  if (request.url?.startsWith('/slow')) held.push(response);
  else response.end(request.url);
}

beforeEach(async () => {
  [served, held, gone] = [[], [], []];
  server = createServer();
  serveInTurn(
    server,
    {
      request: serve,
      connect: (request, socket, head) => {
        served.push(`CONNECT ${request.url}`);
        socket.end(`HTTP/1.1 200 tunnel\r\n\r\n${head.toString()}`);
      },
      clientError: (_, socket) => void socket.end('HTTP/1.1 400 unreadable\r\n\r\n'),
    },
    { maxWaiting: 10 },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
});
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const LAST = 'Connection: close\r\n';

describe('serveInTurn', () => {
  it('serves the requests of a connection one at a time', async () => {
    client.write(get('/slow') + get('/two') + get('/three', LAST));
    await waitFor(() => held.length === 1);
    expect(served).toEqual(['GET /slow']);
    held[0]?.end('one');
    expect((await text(client)).match(/one|\/two|\/three/g)).toEqual(['one', '/two', '/three']);
    expect(served).toEqual(['GET /slow', 'GET /two', 'GET /three']);
  });

  it('makes CONNECT wait for earlier answers', async () => {
    client.write(`${get('/slow')}CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\nhead`);
    await waitFor(() => held.length === 1);
    expect(served).toEqual(['GET /slow']);
    held[0]?.end('one');
    const answers = await text(client);
    expect(served).toEqual(['GET /slow', 'CONNECT b:1']);
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK[^]*one[^]*HTTP\/1\.1 200 tunnel\r\n\r\nhead$/);
  });

  it('does not serve what follows an answer that ends the connection', async () => {
    client.write(get('/slow', LAST) + get('/two'));
    await waitFor(() => held.length === 1);
    held[0]?.end('one');
    await text(client);
    await waitFor(() => gone.includes('/slow'));
    expect(served).toEqual(['GET /slow']);
  });

  it('closes a connection on which too many requests wait', async () => {
    client.write(get('/slow') + get('/two').repeat(30));
    await once(client.resume(), 'close');
    await waitFor(() => gone.includes('/slow'));
    expect(served).toEqual(['GET /slow']);
  });

  it('ends the current request and starts no other when the client leaves', async () => {
    client.write(get('/slow') + get('/two') + get('/slow/three'));
    await waitFor(() => held.length === 1);
    client.resetAndDestroy();
    await waitFor(() => gone.includes('/slow'));
    expect(served).toEqual(['GET /slow']);
    expect(held[0]?.destroyed).toBe(true);
  });

  it('answers unreadable input after the earlier requests', async () => {
    client.write(`${get('/slow')}${get('/two')}NONSENSE\r\n\r\n`);
    await waitFor(() => held.length === 1);
    held[0]?.end('one');
    expect((await text(client)).match(/one|\/two|400 unreadable/g)).toEqual(['one', '/two', '400 unreadable']);
  });

  it('closes a connection whose request is cut off while it is served', async () => {
    client.write('POST /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    await waitFor(() => held.length === 1);
    client.write('zz\r\n');
    expect(await text(client)).toBe('');
  });
});
