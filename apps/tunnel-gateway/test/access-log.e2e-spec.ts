import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { visitHost } from './support/recorded-request.js';
import { TunnelWorld } from './support/tunnel-world.js';

const NAME = 'logged.example.org';
const folder = mkdtempSync(join(tmpdir(), 'access-log-'));
const file = join(folder, 'access.log');
let world: TunnelWorld;
beforeAll(async () => {
  world = await TunnelWorld.start({ TUNNEL_ACCESS_LOG: file, TUNNEL_ACCESS_LOG_FORMAT: 'vhost_combined' });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const lines = (): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');
const visit = (path: string, host = NAME, headers: Record<string, string> = {}): Promise<number> =>
  visitHost(world.edges.ports.http, host, { path, headers });

it('has a line for each request to a host, also for those that the gateway answers, without secrets', async () => {
  const server = createServer((_, answer) => answer.end('x'.repeat(1_234))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.onClose(() => server.close());
  const { id, key } = await world.client();
  await world.online(key);
  await world.admin('POST', '/hosts', {
    client_id: id,
    host: NAME,
    target_addr: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  await waitFor(async () => (await visit('/first')) === 200);
  const headers = { referer: 'https://b.test/?token=s3cret', 'user-agent': 'a "quoted" name', cookie: 'sid=s3cret' };
  await visit('/a?b=1&token=s3cret', NAME, headers);
  await visit('/__gw/login?r=1&p=s3cret');
  await visit('/nobody', 'nobody.example.org');
  await waitFor(() => lines().some((line) => line.includes('/nobody')));
  const time = String.raw`\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\]`;
  const [own, gateways, other] = lines().slice(-3);
  expect(gateways).toContain('"GET /__gw/login?*** HTTP/1.1" 404 ');
  expect(own).toMatch(
    new RegExp(
      String.raw`^${NAME} 127\.0\.0\.1 - - ${time} "GET /a\?b=1&token=\*\*\* HTTP/1\.1" 200 1234 "https://b\.test/\?token=\*\*\*" "a \\"quoted\\" name"$`,
    ),
  );
  expect(other).toMatch(new RegExp(`^nobody\\.example\\.org 127\\.0\\.0\\.1 .* "GET /nobody HTTP/1\\.1" 404 `));
  expect(readFileSync(file, 'utf8')).not.toContain('s3cret');

  // As logrotate does.
  renameSync(file, `${file}.1`);
  await visit('/after');
  await waitFor(() => lines().some((line) => line.includes('"GET /after ')));
  expect(lines()).toHaveLength(1);
});
