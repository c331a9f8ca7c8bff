import { createRequire } from 'node:module';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HarArchive } from '@gatehouse/contracts';
import type * as Validator from '@har-sdk/validator';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOne, visitHost } from './support/recorded-request.js';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let client: AnyJson;
let target: number;
let made = 0;
/** What came to the target. */
const received: { asked: IncomingMessage; body: string }[] = [];
beforeAll(async () => {
  world = await TunnelWorld.start();
  const server = createServer((asked, answer) => {
    const parts: Buffer[] = [];
    asked.on('data', (part: Buffer) => parts.push(part));
    asked.on('end', () => {
      received.push({ asked, body: Buffer.concat(parts).toString() });
      answer.statusCode = asked.url?.startsWith('/missing') ? 404 : 200;
      answer.setHeader('content-type', 'application/json').end('{"token":"t0ken","name":"ann"}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.onClose(() => server.close());
  target = (server.address() as AddressInfo).port;
  client = await world.client();
  await world.online(client.key);
});
afterAll(() => world.close());

async function newHost(record = 'full'): Promise<AnyJson> {
  const { body } = await world.admin('POST', '/hosts', {
    client_id: client.id,
    host: `seen${++made}.example.org`,
    target_addr: `http://127.0.0.1:${target}`,
    record_requests: record,
  });
  return body;
}

const visit = (host: AnyJson, path: string, more: object = {}): Promise<number> =>
  visitHost(world.edges.ports.http, host.host, { path, ...more });

/** Its requests, when the last of them has ended. */
function listed(host: AnyJson, query = ''): Promise<AnyJson> {
  return waitFor(async () => {
    const { body } = await world.admin('GET', `/hosts/${host.id}/requests${query}`);
    return body.items.length > 0 && body.items.every((item: AnyJson) => item.ended_ms !== null) && body;
  });
}

async function served(host: AnyJson): Promise<void> {
  await waitFor(async () => (await visit(host, '/first')) === 200);
}

describe('the requests of a host', () => {
  it('are not kept unless its owner wants them', async () => {
    const host = await newHost('off');
    await served(host);
    expect((await world.admin('GET', `/hosts/${host.id}/requests`)).body).toEqual({
      items: [],
      next_cursor: null,
      record_requests: 'off',
      silent_edges: [],
    });
  });

  it('have method, path, status, times, sizes and visitor, without heads, bodies and secrets', async () => {
    const host = await newHost('requests');
    await served(host);
    await visit(host, '/a?token=s3cret', { method: 'POST', body: 'password=hunter2' });
    const { items, record_requests: level } = await listed(host);
    expect(level).toBe('requests');
    expect(items[0]).toMatchObject({
      edge: null,
      method: 'POST',
      scheme: 'http',
      host: host.host,
      path: '/a?token=***',
      http_version: '1.1',
      visitor_ip: '127.0.0.1',
      status: 200,
      error: null,
      failure: null,
      request_body_bytes: 16,
      answer_body_bytes: 30,
      replay_of: null,
    });
    const { id, sent_ms: sent, answered_ms: answered, ended_ms: ended } = items[0];
    expect(0 <= sent && sent <= answered && answered <= ended).toBe(true);
    const { body: detail } = await world.admin('GET', `/hosts/${host.id}/requests/${id}`);
    expect(detail).toEqual({ ...items[0], request: null, answer: null });
  });

  it('have heads and bodies where the owner wants those, with secrets masked', async () => {
    const host = await newHost();
    await served(host);
    await visit(host, '/a', {
      method: 'POST',
      body: '{"user":"ann","password":"hunter2"}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer s3cret', 'x-api-key': 'k3y' },
    });
    const { items } = await listed(host);
    const { body: detail } = await world.admin('GET', `/hosts/${host.id}/requests/${items[0].id}`);
    expect(detail.request.headers).toContainEqual({ name: 'authorization', value: 'Bearer ***' });
    expect(detail.request.body).toMatchObject({ content: '{"user":"ann","password":"***"}', encoding: 'utf8' });
    expect(detail.answer.headers).toContainEqual({ name: 'content-type', value: 'application/json' });
    expect(detail.answer.body.content).toBe('{"token":"***","name":"ann"}');
    expect(JSON.stringify(detail)).not.toMatch(/hunter2|s3cret|k3y|t0ken/);
    expect(JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.host_options'))).not.toContain('hunter2');
  });

  it('are narrowed by method, status, visitor and a part of the path, and come in pages', async () => {
    const host = await newHost('requests');
    await served(host);
    for (const path of ['/missing', '/b', '/c']) await visit(host, path);
    await visit(host, '/b', { method: 'PUT', body: 'x' });
    const paths = async (query: string): Promise<string[]> =>
      (await world.admin('GET', `/hosts/${host.id}/requests${query}`)).body.items.map((item: AnyJson) => item.path);
    await listed(host);
    expect(await paths('?status=4xx')).toEqual(['/missing']);
    expect(await paths('?status=404&q=MISS')).toEqual(['/missing']);
    expect(await paths('?status=failed')).toEqual([]);
    expect(await paths('?method=put')).toEqual(['/b']);
    expect(await paths('?q=/b&visitor_ip=127.0.0.1')).toEqual(['/b', '/b']);
    expect(await paths('?visitor_ip=192.0.2.1')).toEqual([]);
    const { body: first } = await world.admin('GET', `/hosts/${host.id}/requests?limit=2`);
    expect(first.items.map((item: AnyJson) => item.path)).toEqual(['/b', '/c']);
    expect((await paths(`?limit=2&cursor=${first.next_cursor}`)).slice(0, 2)).toEqual(['/b', '/missing']);
    for (const wrong of ['status=600', 'method=%00', 'visitor_ip=x', 'cursor=abc', 'limit=0']) {
      expect((await world.admin('GET', `/hosts/${host.id}/requests?${wrong}`)).status, wrong).toBe(422);
    }
    expect((await world.admin('GET', `/hosts/${host.id}/requests/x`)).status).toBe(400);
    expect((await world.admin('GET', `/hosts/${host.id}/requests/${'0'.repeat(28)}`)).status).toBe(404);
  });

  it('are forgotten when recording is turned off, also at the next request', async () => {
    const host = await newHost();
    await served(host);
    await listed(host);
    await world.admin('PATCH', `/hosts/${host.id}`, { record_requests: 'off' });
    await waitFor(async () => (await world.admin('GET', `/hosts/${host.id}/requests`)).body.items.length === 0);
    await visit(host, '/');
    expect((await world.admin('GET', `/hosts/${host.id}/requests`)).body.items).toEqual([]);
  });

  it('can be had by the owner and administrators, through that host alone', async () => {
    const { call, id: user } = await world.user('ann');
    const { call: other } = await world.user('ben');
    const own = await world.client({ owner_user_id: user });
    const [host, another] = [await newHost(), await newHost()];
    const { body: owned } = await world.admin('POST', '/hosts', {
      client_id: own.id,
      host: 'ann.example.org',
      target_addr: 'http://127.0.0.1:1',
    });
    const seen = await recordOne(world, owned.id);
    await served(host);
    const [{ id }] = (await listed(host)).items;
    for (const [by, path, status] of [
      [call, `/hosts/${owned.id}/requests`, 200],
      [call, `/hosts/${owned.id}/requests/${seen.id}`, 200],
      [call, `/hosts/${owned.id}/requests/har`, 200],
      [call, `/hosts/${host.id}/requests`, 404],
      [call, `/hosts/${owned.id}/requests/${id}`, 404],
      [other, `/hosts/${owned.id}/requests`, 404],
      [other, `/hosts/${owned.id}/requests/${seen.id}`, 404],
      [other, `/hosts/${owned.id}/requests/har`, 404],
      [world.admin, `/hosts/${owned.id}/requests/${seen.id}`, 200],
      [world.admin, `/hosts/${another.id}/requests/${id}`, 404],
    ] as const) {
      expect((await by('GET', path)).status, path).toBe(status);
    }
  });
});

describe('an export as HAR', () => {
  it('is valid HAR 1.2, oldest first, with what was masked still masked', async () => {
    const host = await newHost();
    await served(host);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie: 'sid=s3cret' };
    await visit(host, '/a?b=1&key=s3cret', { method: 'POST', body: 'a=1&password=s3cret', headers });
    await listed(host);
    const { body } = await world.admin('GET', `/hosts/${host.id}/requests/har?q=/a`);
    const { HarValidator } = createRequire(import.meta.url)('@har-sdk/validator') as typeof Validator;
    expect(await new HarValidator().verify(body)).toEqual([]);
    expect(await new HarValidator().verify({ log: { ...body.log, entries: [{}] } } as never)).not.toEqual([]);
    const [entry] = (body as HarArchive).log.entries;
    expect(entry).toMatchObject({
      request: {
        method: 'POST',
        url: `http://${host.host}/a?b=1&key=***`,
        queryString: [
          { name: 'b', value: '1' },
          { name: 'key', value: '***' },
        ],
        postData: { mimeType: 'application/x-www-form-urlencoded', text: 'a=1&password=***' },
        bodySize: 19,
      },
      response: { status: 200, statusText: 'OK', content: { mimeType: 'application/json', size: 30 } },
      _visitor: '127.0.0.1',
      _error: null,
    });
    const { blocked, connect, send, wait, receive } = entry?.timings ?? ({} as never);
    expect(blocked).toBe(-1);
    expect(connect + send + wait + receive).toBeCloseTo(entry?.time ?? 0);
    expect(JSON.stringify(body)).not.toContain('s3cret');
    const { body: all } = await world.admin('GET', `/hosts/${host.id}/requests/har`);
    expect(all.log.entries.map(({ request }: AnyJson) => new URL(request.url).pathname).at(-1)).toBe('/a');
  });
});

describe('a replay', () => {
  /** A host with a request that was recorded in full, and its id. */
  async function recorded(path: string, more: object): Promise<{ host: AnyJson; id: string }> {
    const host = await newHost();
    await served(host);
    await visit(host, path, more);
    return { host, id: (await listed(host)).items[0].id };
  }

  const replay = (host: AnyJson, body: object): Promise<AnyJson> =>
    world.admin('POST', `/hosts/${host.id}/replay`, body);

  it('sends the request again through the host, past the login of visitors, without what was masked', async () => {
    const headers = { 'content-type': 'text/plain', 'x-team': 'a', authorization: 'Bearer s3cret', cookie: 'a=1' };
    const { host, id } = await recorded('/a?b=1', { method: 'PUT', body: 'hello', headers });
    const policy = { resource_type: 'host', resource_id: host.id, type: 'password', password: 'for visitors' };
    expect((await world.admin('POST', '/auth-policies', policy)).status).toBe(201);
    await waitFor(async () => (await visit(host, '/first')) !== 200);
    const { status, body } = await replay(host, { request_id: id });
    expect([status, body]).toEqual([200, { id: expect.any(String), left_out: ['authorization', 'cookie'] }]);
    const again = await waitFor(async () => {
      const { body: detail } = await world.admin('GET', `/hosts/${host.id}/requests/${body.id}`);
      return detail.ended_ms !== null && detail;
    });
    expect(again).toMatchObject({ method: 'PUT', path: '/a?b=1', status: 200, replay_of: id, visitor_ip: '127.0.0.1' });
    const { asked, body: sent } = received.at(-1)!;
    expect([asked.method, asked.url, sent]).toEqual(['PUT', '/a?b=1', 'hello']);
    expect(asked.headers).toMatchObject({ host: host.host, 'x-team': 'a', 'x-gatehouse-replay': id });
    expect(asked.headers).not.toHaveProperty('authorization');
  });

  it('takes what was masked, and changes, from its sender', async () => {
    const { host, id } = await recorded('/a?token=s3cret', { method: 'POST', body: '{"password":"s3cret"}' });
    expect((await replay(host, { request_id: id })).body.detail).toBe('A secret in the path was masked: set path');
    const path = '/b?token=another';
    expect((await replay(host, { request_id: id, path })).body.detail).toBe(
      'A secret in the body was masked: set body',
    );
    const headers = { Authorization: 'Bearer another', 'X-Team': 'b' };
    const { body } = await replay(host, { request_id: id, path, headers, body: 'changed' });
    expect(body.left_out).toEqual([]);
    await waitFor(() => received.at(-1)?.body === 'changed');
    expect(received.at(-1)?.asked.url).toBe(path);
    expect(received.at(-1)?.asked.headers).toMatchObject({ authorization: 'Bearer another', 'x-team': 'b' });
  });

  it('is refused for what cannot be sent as it was', async () => {
    const { host, id } = await recorded('/', { method: 'POST', body: 'x'.repeat(70_000) });
    expect((await replay(host, { request_id: id })).body).toMatchObject({
      status: 422,
      detail: 'Only the beginning of the body was kept: set body',
    });
    expect((await replay(host, { request_id: '0'.repeat(28) })).status).toBe(404);
    for (const wrong of [{}, { path: 'a' }, { path: '/a b' }, { headers: { Host: 'x' } }, { headers: { a: 'b\n' } }]) {
      expect(
        (await replay(host, { ...wrong, ...('path' in wrong || 'headers' in wrong ? { request_id: id } : {}) })).status,
      ).toBe(422);
    }
    const line = await newHost('requests');
    await served(line);
    const [{ id: without }] = (await listed(line)).items;
    expect((await replay(line, { request_id: without })).body.detail).toMatch(
      /were not kept: set record_requests to full/,
    );
    // A request of another host.
    expect((await replay(line, { request_id: id })).status).toBe(404);
  });
});

it('finds requests at whichever worker has them, and replays there', async () => {
  await using several = await TunnelWorld.start({ TUNNEL_EDGE_WORKERS: '2' });
  for (const name of ['one', 'two', 'three']) {
    const { id: clientId, key } = await several.client({ name });
    await several.online(key);
    const { body: host } = await several.admin('POST', '/hosts', {
      client_id: clientId,
      host: `${name}.example.org`,
      target_addr: `http://127.0.0.1:${target}`,
    });
    const seen = await recordOne(several, host.id, { path: `/${name}` });
    expect(seen).toMatchObject({ path: `/${name}` });
    const { body } = await several.admin('POST', `/hosts/${host.id}/replay`, { request_id: seen.id });
    await waitFor(async () => {
      const answer = await several.admin('GET', `/hosts/${host.id}/requests/${body.id}`);
      return answer.body.replay_of === seen.id;
    });
  }
}, 60_000);
