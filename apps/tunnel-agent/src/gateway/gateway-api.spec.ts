import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemDialer } from '@gatehouse/tunnel-kernel';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayApi } from './gateway-api.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function apiWith(listener: RequestListener): Promise<GatewayApi> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new GatewayApi({ url, apiKey: 'gtk_x', language: 'zh-CN', dialer: systemDialer });
}

describe("the gateway's interface", () => {
  it('gets the key, the language and the body, over one connection', async () => {
    const connections = new Set<unknown>();
    const api = await apiWith((request, response) => {
      connections.add(request.socket);
      const { authorization, 'accept-language': language, host } = request.headers;
      let text = '';
      request.on('data', (part) => (text += String(part)));
      request.on('end', () => response.end(JSON.stringify({ authorization, language, host, url: request.url, text })));
    });
    const answer = await api.call<Record<string, string>>('POST', '/clients', { name: 'ü' });
    expect(answer).toMatchObject({ authorization: 'Bearer gtk_x', language: 'zh-CN', url: '/api/v1/clients' });
    expect(answer['text']).toBe('{"name":"ü"}');
    expect(answer['host']).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await api.call<Record<string, string>>('GET', '/gateway')).toMatchObject({ text: '' });
    expect(connections.size).toBe(1);
  });

  it('cannot send the key elsewhere', async () => {
    let asked = 0;
    const api = await apiWith((_, response) => {
      asked += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await expect(api.call('GET', '/gateway')).rejects.toMatchObject({ status: 307, message: 'HTTP 307' });
    expect(asked).toBe(1);
  });

  it('may refuse, be silent about the reason, say too much or end in the middle', async () => {
    const problem = { detail: 'not allowed' };
    const api = await apiWith(({ url }, response) => {
      if (url === '/api/v1/problem') response.writeHead(403).end(JSON.stringify(problem));
      else if (url === '/api/v1/text') response.end('<html>');
      else if (url === '/api/v1/long') response.end(Buffer.alloc(1024 * 1024 + 1, ' '));
      else response.writeHead(200, { 'content-length': 10 }).write('x', () => response.destroy());
    });
    await expect(api.call('GET', '/problem')).rejects.toMatchObject({ status: 403, message: 'not allowed' });
    await expect(api.call('GET', '/text')).rejects.toMatchObject({ status: 200, message: 'HTTP 200' });
    await expect(api.call('GET', '/long')).rejects.toThrow(/^127\.0\.0\.1:\d+: the answer is too long$/);
    await expect(api.call('GET', '/cut')).rejects.toMatchObject({ status: 0 });
  });
});
