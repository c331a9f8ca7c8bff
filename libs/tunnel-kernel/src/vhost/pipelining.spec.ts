import { once } from 'node:events';
import { connect } from 'node:net';
import type { ServerResponse } from 'node:http';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';

let rig: HostRig;
let seen: string[];
let held: ServerResponse[];
let port: number;
beforeEach(async () => {
  rig = await HostRig.start();
  [seen, held] = [[], []];
  port = await rig.origin((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.url === '/slow') held.push(response);
    else response.end(String(request.url));
  });
  await rig.serve(rig.hostConfig([port]));
});
afterEach(() => rig.close());

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${more}\r\n`;
const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nhi`;

describe('requests that are sent before an answer', () => {
  it('reach the target one by one in order', async () => {
    const answers = rig.raw(post('/slow') + get('/two') + get('/three', 'Connection: close\r\n'));
    await waitFor(() => held.length === 1);
    expect(seen).toEqual(['POST /slow']);
    held[0]?.end('one');
    const text = await answers;
    expect(seen).toEqual(['POST /slow', 'GET /two', 'GET /three']);
    expect(text.match(/one|\/two|\/three/g)).toEqual(['one', '/two', '/three']);
  });

  it('take the place of the previous one if the client may have only one', async () => {
    const config = rig.config({ hosts: [rig.hostConfig([port])] });
    for (const client of config.clients) client.maxConnections = 1;
    await rig.server.apply(config);
    const text = await rig.raw(get('/one') + get('/two') + get('/three', 'Connection: close\r\n'));
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('do not reach the target after their visitor has left', async () => {
    const socket = connect({ port: rig.http, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.write(get('/slow') + get('/two'));
    await waitFor(() => held.length === 1);
    socket.resetAndDestroy();
    await waitFor(() => rig.server.flows === 0);
    held[0]?.end();
    expect((await rig.ask({ path: '/after' })).body).toBe('/after');
    expect(seen).toEqual(['GET /slow', 'GET /after']);
  });

  it('are queued up to a limit', async () => {
    const socket = connect({ port: rig.http, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(get('/slow') + get('/two').repeat(200));
    await once(socket, 'close');
    expect(seen).not.toContain('GET /two');
  });
});

describe('input that cannot be parsed', () => {
  it('after complete requests is answered after them', async () => {
    const answers = rig.raw(`${get('/slow')}${get('/two')}NONSENSE\r\n\r\n`);
    await waitFor(() => held.length === 1);
    held[0]?.end('one');
    const text = await answers;
    expect(seen).toEqual(['GET /slow', 'GET /two']);
    expect(text.match(/one|\/two|400 Bad Request/g)).toEqual(['one', '/two', '400 Bad Request']);
  });

  it('within a request closes the connection without another answer', async () => {
    const chunked = 'POST /slow HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
    expect(await rig.raw(chunked)).not.toContain('200 OK');
    await waitFor(() => rig.server.flows === 0);
  });
});
