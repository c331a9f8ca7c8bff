import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { HostMessageView, HostRequestDetail } from '@gatehouse/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { curlOf } from './curl.js';

const server = createServer((asked, answer) => {
  const parts: Buffer[] = [];
  asked.on('data', (part: Buffer) => parts.push(part));
  asked.on('end', () => {
    seen.push({ asked, body: Buffer.concat(parts) });
    answer.end();
  });
});
const seen: { asked: IncomingMessage; body: Buffer }[] = [];
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

function recorded(path: string, method: string, request: HostMessageView | null): HostRequestDetail {
  const { port } = server.address() as AddressInfo;
  return { method, path, scheme: 'http', host: `127.0.0.1:${port}`, request } as HostRequestDetail;
}

/** Runs the command in a real shell. */
async function sent(detail: HostRequestDetail): Promise<(typeof seen)[number]> {
  await promisify(execFile)('/bin/sh', ['-c', curlOf(detail)]);
  const last = seen.at(-1);
  if (!last) throw new Error('nothing came');
  return last;
}

it('sends the same method, path, fields and text, whatever a visitor wrote into them', async () => {
  const content = `it's "$HOME" \`id\` $(id) \\ @/etc/passwd\n{"a":[1]} é`;
  const headers = [
    { name: 'Content-Type', value: 'application/json' },
    { name: 'X-Quote', value: `'; touch /tmp/x; echo '` },
    { name: 'X-Empty', value: '' },
    { name: 'Content-Length', value: '3' },
    { name: 'Accept-Encoding', value: 'gzip' },
  ];
  const body = { content, encoding: 'utf8', truncated: false, unpacked: false, masked: false } as const;
  const { asked, body: got } = await sent(recorded(`/a/../b/[1]{2}?c='&d=$(id)`, 'PUT', { headers, body }));
  expect([asked.method, asked.url]).toEqual(['PUT', `/a/../b/[1]{2}?c='&d=$(id)`]);
  expect(got.toString()).toBe(content);
  expect(asked.headers).toMatchObject({
    'content-type': 'application/json',
    'x-quote': headers[1]?.value,
    'x-empty': '',
  });
  expect(asked.headers['accept-encoding']).toContain('gzip');
});

it('sends bytes, without a type where there was none', async () => {
  const content = Buffer.from([0, 1, 255, 10]).toString('base64');
  const body = { content, encoding: 'base64', truncated: false, unpacked: false, masked: false } as const;
  const { asked, body: got } = await sent(recorded('/', 'POST', { headers: [], body }));
  expect(got).toEqual(Buffer.from([0, 1, 255, 10]));
  expect(asked.headers).not.toHaveProperty('content-type');
});

it('sends what is known where heads and bodies were not kept', async () => {
  expect((await sent(recorded('/x', 'HEAD', null))).asked).toMatchObject({ method: 'HEAD', url: '/x' });
  expect((await sent(recorded('/y', 'DELETE', null))).asked).toMatchObject({ method: 'DELETE', url: '/y' });
});
