import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearerOf, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let token: string;
let id: number;
beforeAll(async () => {
  world = await TunnelWorld.start({ WORKERS: 'separate' });
  token = await bearerOf(world.gateway, 'admin');
  ({ id } = await world.client());
});
afterAll(() => world.close());

interface Reply {
  status: number;
  tag: string | null;
  body: AnyJson;
}

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Reply> {
  const response = await fetch(`${world.gateway.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    tag: response.headers.get('etag'),
    body: text === '' ? null : JSON.parse(text),
  };
}

const versionOf = (tag: string | null) => tag?.split('-')[0];
const tagOf = async (path: string): Promise<string> => (await send('GET', path)).tag ?? '';

describe('entity tags', () => {
  it('come with rows and change with them', async () => {
    const path = `/clients/${id}`;
    const { tag } = await send('GET', path);
    expect(tag).toMatch(/^"[0-9a-z]+-[\w-]+"$/);
    expect((await send('GET', '/clients')).tag).toBeNull();
    const changed = await send('PATCH', path, {}, { max_conn: 3 });
    expect(changed.tag).not.toBe(tag);
    expect(changed.tag).toBe(await tagOf(path));
  });

  it('allow an answer of 304 for a known version', async () => {
    const path = `/clients/${id}`;
    const tag = await tagOf(path);
    expect(await send('GET', path, { 'if-none-match': `"other-1", ${tag}` })).toMatchObject({
      status: 304,
      body: null,
    });
    // A counter is not a change of the row by a user, but the response is new.
    await world.rows('UPDATE tunnel_gateway.clients SET inlet_flow = 17 WHERE id = $1', [id]);
    expect(await send('GET', path, { 'if-none-match': tag })).toMatchObject({ status: 200, body: { inlet_flow: 17 } });
  });
});

describe('changes', () => {
  const kinds: [string, (client: number) => object, object][] = [
    ['clients', () => ({ name: 'a' }), { name: 'b' }],
    ['tunnels', (client_id) => ({ client_id, mode: 'tcp', target_addr: '127.0.0.1:1' }), { name: 'b' }],
    ['hosts', (client_id) => ({ client_id, host: 'a.example', target_addr: '127.0.0.1:1' }), { location: '/b' }],
    ['ip-rules', (n) => ({ scope: 'client', resource_id: n, type: 'deny', pattern: '192.0.2.1' }), { priority: 2 }],
    [
      'auth-policies',
      (n) => ({ resource_type: 'client', resource_id: n, type: 'password', password: 'secret secret' }),
      { ttl_seconds: 60 },
    ],
  ];

  it.each(kinds)('to %s are refused if the row has changed since it was read', async (kind, made, changes) => {
    const { body } = await send('POST', `/${kind}`, {}, made(id));
    const path = `/${kind}/${body.id}`;
    const first = await tagOf(path);
    const second = await send('PATCH', path, { 'if-match': first }, changes);
    expect(second.status).toBe(200);
    const stale = await send('PATCH', path, { 'if-match': first }, changes);
    expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    expect((await send('DELETE', path, { 'if-match': first })).status).toBe(412);
    expect((await send('DELETE', path, { 'if-match': `W/${second.tag}` })).status).toBe(412);
    // Its state is not a change of the row by a user.
    expect(versionOf(await tagOf(path))).toBe(versionOf(second.tag));
    expect((await send('PATCH', path, { 'if-match': '*' }, changes)).status).toBe(200);
    expect((await send('DELETE', path, { 'if-match': `"none-1", ${await tagOf(path)}` })).status).toBe(204);
    expect((await send('DELETE', path, { 'if-match': '*' })).status).toBe(404);
  });

  it('are accepted if only counters have changed', async () => {
    const tag = await tagOf(`/clients/${id}`);
    await world.rows('UPDATE tunnel_gateway.clients SET export_flow = export_flow + 1 WHERE id = $1', [id]);
    expect((await send('PATCH', `/clients/${id}`, { 'if-match': tag }, { name: 'mine' })).status).toBe(200);
  });

  it('of which two run at once succeed only once', async () => {
    const tag = await tagOf(`/clients/${id}`);
    const both = await Promise.all(
      ['one', 'two'].map((name) => send('PATCH', `/clients/${id}`, { 'if-match': tag }, { name })),
    );
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
  });
});
