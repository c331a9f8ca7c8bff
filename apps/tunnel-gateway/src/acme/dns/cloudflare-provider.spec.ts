import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { CloudflareProvider } from './cloudflare-provider.js';

const TOKEN = 'token-token-token-token';
const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Answers as the documentation of version 4 says; there is no real account in tests. */
async function api(zone: string): Promise<{ url: string; records: Map<string, unknown>; asked: string[] }> {
  const records = new Map<string, unknown>();
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    asked.push(`${method} ${url}`);
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    const say = (status: number, result: unknown, errors: object[] = []): void => {
      response.writeHead(status).end(JSON.stringify({ success: status === 200, errors, messages: [], result }));
    };
    if (headers.authorization !== `Bearer ${TOKEN}`)
      return say(403, null, [{ code: 9109, message: 'Invalid access token' }]);
    const id = 'c'.repeat(32);
    if (url.startsWith('/client/v4/zones?name='))
      return say(200, url.endsWith(`=${zone}`) ? [{ id: 'z'.repeat(32), name: zone }] : []);
    if (method === 'POST') records.set(id, JSON.parse(body));
    if (method === 'DELETE') records.delete(id);
    say(200, { id });
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`, records, asked };
}

describe("Cloudflare's API, as a server of this test plays it", () => {
  const { signal } = new AbortController();

  it('gets a TXT record in the zone with the longest name, and loses it again', async () => {
    const { url, records, asked } = await api('example.org');
    const remove = await new CloudflareProvider({ token: TOKEN, url }).add(
      '_acme-challenge.a.b.example.org',
      'x',
      signal,
    );
    const record = { type: 'TXT', name: '_acme-challenge.a.b.example.org', content: '"x"', ttl: 60 };
    expect([...records.values()]).toEqual([record]);
    expect(asked.slice(0, 3).map((line) => line.split('=')[1])).toEqual([
      'a.b.example.org',
      'b.example.org',
      'example.org',
    ]);
    await remove(signal);
    expect(records.size).toBe(0);
  });

  it('is quoted where it refuses, without the token', async () => {
    const { url } = await api('example.org');
    const wrong = new CloudflareProvider({ token: 'another-token-another', url });
    await expect(wrong.add('_acme-challenge.example.org', 'x', signal)).rejects.toThrow(
      /^Cloudflare: it answered with 403: Invalid access token$/,
    );
    const right = new CloudflareProvider({ token: TOKEN, url });
    await expect(right.add('_acme-challenge.example.net', 'x', signal)).rejects.toThrow('there is no zone');
  });
});
