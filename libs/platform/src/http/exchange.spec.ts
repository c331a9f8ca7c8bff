import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { clientAddress } from './client-address.js';
import { addedHeader, addHeader, onAnswered, writeAddedHeaders } from './exchange.js';
import { receiveRequests } from './receive-requests.js';

const answered: [number, number][] = [];
const closing: (() => void)[] = [];

afterEach(() => {
  answered.length = 0;
  for (const close of closing.splice(0)) close();
});

function serve(handler: RequestHandler): http.Server {
  const app = express();
  app.set('trust proxy', ['loopback']);
  writeAddedHeaders(app);
  app.use(receiveRequests(() => (status, milliseconds) => void answered.push([status, milliseconds])));
  app.use(handler);
  const server = http.createServer(app).listen(0, '127.0.0.1');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

describe('added headers', () => {
  it('are on every answer, however it is written', async () => {
    const server = serve((asked, response) => {
      addHeader(response, 'X-Mine', 'added');
      if (asked.path === '/end') response.end('{}');
      else if (asked.path === '/head') response.writeHead(201, { 'X-Other': 'given' }).end();
      else if (asked.path === '/stream') response.write('a', () => response.end('b'));
      else response.status(202).json({});
    });
    for (const path of ['/end', '/head', '/stream', '/json']) {
      const answer = await request(server).get(path);
      expect(answer.headers, path).toMatchObject({ 'x-mine': 'added', 'x-frame-options': 'DENY' });
      expect(answer.headers['x-request-id'], path).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect((await request(server).get('/head')).headers['x-other']).toBe('given');
  });

  it('do not replace those that are set, before or after', async () => {
    const server = serve((_request, response) => {
      response.setHeader('X-Mine', 'set');
      addHeader(response, 'X-Mine', 'added');
      addHeader(response, 'X-Yours', 'added');
      response.setHeader('x-yours', 'set');
      expect(addedHeader(response, 'X-Mine')).toBe('added');
      expect(addedHeader(response, 'X-Nobodys')).toBeUndefined();
      response.setHeader('Content-Security-Policy', "default-src 'self'").end();
    });
    const { headers } = await request(server).get('/');
    expect(headers).toMatchObject({
      'x-mine': 'set',
      'x-yours': 'set',
      'content-security-policy': "default-src 'self'",
    });
  });

  it('cannot split an answer', async () => {
    const server = serve((_request, response) => {
      addHeader(response, 'X-Mine', 'a\r\nX-Injected: b');
      expect(() => response.end()).toThrow(/Invalid character/);
      response.destroy();
    });
    await expect(request(server).get('/')).rejects.toThrow();
  });

  it('ask browsers to stay with TLS only if a trusted proxy uses it', async () => {
    const server = serve((_request, response) => void response.end());
    expect((await request(server).get('/')).headers['strict-transport-security']).toBeUndefined();
    const behind = await request(server).get('/').set('X-Forwarded-Proto', 'https');
    expect(behind.headers['strict-transport-security']).toBe('max-age=31536000');
  });
});

describe('onAnswered', () => {
  it('reports the status once the answer has been sent', async () => {
    const own: number[] = [];
    const server = serve((_request, response) => {
      onAnswered(response, (status) => void own.push(status));
      response.status(418).end();
    });
    await request(server).get('/');
    await expect.poll(() => own).toEqual([418]);
    expect(answered).toEqual([[418, expect.any(Number)]]);
  });

  it('reports 499 when the client leaves first', async () => {
    const server = serve(() => undefined);
    await once(server, 'listening');
    const asking = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => {});
    await once(server, 'request');
    asking.destroy();
    await expect.poll(() => answered).toEqual([[499, expect.any(Number)]]);
  });
});

it('clientAddress follows the forwarding header from request to request of one connection', async () => {
  const server = serve(
    (asked, response) => void response.json({ ...clientAddress(asked), socket: asked.socket.remotePort }),
  );
  await once(server, 'listening');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  closing.push(() => agent.destroy());
  const ask = async (forwarded?: string): Promise<{ ip: string; key: string; socket: number }> => {
    const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
    const { port } = server.address() as AddressInfo;
    const [answer] = (await once(http.get({ port, host: '127.0.0.1', agent, headers }), 'response')) as [
      http.IncomingMessage,
    ];
    const chunks = await answer.toArray();
    return JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { ip: string; key: string; socket: number };
  };
  const answers = [];
  for (const each of [undefined, '192.0.2.1', '192.0.2.1', '2001:db8::7', undefined]) answers.push(await ask(each));
  expect(answers.map(({ ip }) => ip)).toEqual(['127.0.0.1', '192.0.2.1', '192.0.2.1', '2001:db8::7', '127.0.0.1']);
  expect(answers[3]?.key).toBe('2001:db8:0:0::/64');
  expect(new Set(answers.map(({ socket }) => socket)).size).toBe(1);
});
