import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

const OFFICE = '198.51.100.7';
const OTHER = '203.0.113.9';

let world: TunnelWorld;
let client: AnyJson;
let host: AnyJson;
const seen: string[] = [];
beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1/32' });
  const origin = createServer(({ method, url }, response) => {
    seen.push(`${method} ${url}`);
    response.end('in');
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  world.onClose(() => origin.close());
  client = await world.client();
  await world.online(client.key);
  const target_addr = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  ({ body: host } = await world.admin('POST', '/hosts', { client_id: client.id, host: 'paths.example', target_addr }));
  await waitFor(async () => (await ask(OTHER, '/')) === 200);
});
afterAll(() => world.close());

/** The status for a request as it is written here, of a visitor that a trusted proxy names. */
async function ask(address: string, target: string, method = 'GET'): Promise<number> {
  const socket = connect(world.edges.ports.http, '127.0.0.1');
  socket.write(
    `${method} ${target} HTTP/1.1\r\nHost: paths.example\r\nX-Forwarded-For: ${address}\r\nConnection: close\r\n\r\n`,
  );
  return Number((await text(socket)).slice(9, 12));
}

async function add(rule: object): Promise<AnyJson> {
  const ofHost = { scope: 'host', resource_id: host.id, pattern_kind: 'any', pattern: '*' };
  const { status, body } = await world.admin('POST', '/ip-rules', { ...ofHost, ...rule });
  expect([status, body.warning]).toEqual([201, null]);
  return body;
}

const remove = (rules: AnyJson[]) =>
  Promise.all(rules.map(({ id }: AnyJson) => world.admin('DELETE', `/ip-rules/${id}`)));
const check = async (address: string, query = '') =>
  (await world.admin('GET', `/ip-rules/check?ip=${address}&resource_type=host&resource_id=${host.id}${query}`)).body;

describe('rules about paths and methods', () => {
  it('let a network alone reach a path, as the check says', async () => {
    const rules = [
      await add({ type: 'allow', pattern_kind: 'cidr', pattern: '198.51.100.0/24', paths: ['/admin/'], priority: 1 }),
      await add({ type: 'deny', paths: ['/admin', '/users/*/keys'], priority: 2 }),
    ];
    expect(rules.map(({ paths, methods }) => [paths, methods])).toEqual([
      [['/admin'], null],
      [['/admin', '/users/*/keys'], null],
    ]);
    // A level that allows one thing refuses everything else.
    await waitFor(async () => (await ask(OTHER, '/')) === 403);
    rules.push(await add({ type: 'allow', priority: 3 }));
    await waitFor(async () => (await ask(OTHER, '/')) === 200);
    seen.length = 0;
    const asked: [string, string][] = [
      [OFFICE, '/admin/x'],
      [OTHER, '/admin/x'],
      [OTHER, '/x/..;/admin'],
      [OTHER, '/ADMIN'],
      [OTHER, '/users/7/keys'],
      [OTHER, '/users/7'],
      [OFFICE, '/users/7/keys'],
    ];
    const [answers, said]: [boolean[], boolean[]] = [[], []];
    for (const [address, path] of asked) {
      answers.push((await ask(address, path)) === 200);
      said.push((await check(address, `&path=${encodeURIComponent(path)}`)).allowed);
    }
    expect(answers).toEqual([true, false, false, false, false, true, false]);
    expect(said).toEqual(answers);
    expect(seen).toEqual(['GET /admin/x', 'GET /users/7']);
    await remove(rules);
    await waitFor(async () => (await ask(OTHER, '/admin')) === 200);
  });

  it('are explained with the request that was checked', async () => {
    const rules = [await add({ type: 'deny', methods: ['post', 'PUT'], remark: 'reads only' })];
    expect(await check(OTHER)).toMatchObject({ allowed: true, request: { method: 'GET', path: '/' } });
    const denied = await check(OTHER, '&method=put&path=/a/../b?c');
    expect(denied).toMatchObject({ allowed: false, request: { method: 'PUT', path: '/b?c' } });
    expect(denied.levels.at(-1)).toMatchObject({ outcome: 'denied', rule: { methods: ['POST', 'PUT'] } });
    await waitFor(async () => (await ask(OTHER, '/', 'PUT')) === 403);
    expect(await ask(OTHER, '/')).toBe(200);
    // A change of the condition alone is in force, too.
    await world.admin('PATCH', `/ip-rules/${rules[0].id}`, { methods: ['DELETE'] });
    await waitFor(async () => (await ask(OTHER, '/', 'PUT')) === 200);
    expect(await ask(OTHER, '/', 'DELETE')).toBe(403);
    const { body } = await world.admin('PATCH', `/ip-rules/${rules[0].id}`, { methods: null, paths: ['/a'] });
    expect([body.methods, body.paths, body.remark]).toEqual([null, ['/a'], 'reads only']);
    const { body: list } = await world.admin('GET', `/ip-rules?scope=host&resource_id=${host.id}`);
    expect(list.items).toMatchObject([{ paths: ['/a'], methods: null }]);
    await remove(rules);
  });

  it('of a client are about all its hosts, and leave its tunnels alone', async () => {
    const tunnel = await world.tunnel(client.id, await world.echo());
    const rules = [await add({ scope: 'client', resource_id: client.id, type: 'deny', paths: ['/private'] })];
    await waitFor(async () => (await ask(OTHER, '/private')) === 403);
    const socket = connect(tunnel.listen_port, '127.0.0.1');
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('hello');
    socket.destroy();
    await remove(rules);
  });

  it('warn where the host passes TLS on', async () => {
    const { body: passing } = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'tls.example',
      scheme: 'https',
      target_addr: 'tls://127.0.0.1:1',
    });
    const rule = {
      scope: 'host',
      resource_id: passing.id,
      type: 'deny',
      pattern_kind: 'any',
      pattern: '*',
      paths: ['/a'],
    };
    const { body } = await world.admin('POST', '/ip-rules', rule);
    expect(body.warning).toContain('passes TLS on');
    const asked = `/ip-rules/check?ip=${OTHER}&resource_type=host&resource_id=${passing.id}`;
    expect((await world.admin('GET', asked)).body).toMatchObject({ allowed: false, request: null });
    await world.admin('DELETE', `/hosts/${passing.id}`);
  });

  it('are checked when they are written', async () => {
    const rule = { scope: 'host', resource_id: host.id, type: 'deny', pattern_kind: 'any', pattern: '*' };
    const refused = async (more: object): Promise<string> => {
      const { status, body } = await world.admin('POST', '/ip-rules', { ...rule, ...more });
      return `${status} ${body.errors?.[0]?.field}`;
    };
    for (const paths of [['admin'], ['/a%2fb'], ['/a/../b'], ['/a;x'], ['/a?b'], []]) {
      expect(await refused({ paths }), JSON.stringify(paths)).toBe('422 paths');
    }
    for (const methods of [['GET POST'], ['CONNECT'], ['TRACE'], []]) {
      expect(await refused({ methods }), JSON.stringify(methods)).toBe('422 methods');
    }
    const tunnel = await world.tunnel(client.id, await world.echo());
    expect(await refused({ scope: 'tunnel', resource_id: tunnel.id, paths: ['/a'] })).toBe('422 paths');
    expect(await refused({ scope: 'console', resource_id: 0, methods: ['GET'] })).toBe('422 methods');
    expect(await refused({ pattern: '0.0.0.0/0' })).toBe('422 pattern');
    for (const query of ['&path=a', '&path=/%2500/%00']) {
      const asked = `/ip-rules/check?ip=${OTHER}&resource_type=host&resource_id=${host.id}${query}`;
      expect((await world.admin('GET', asked)).status, query).toBe(422);
    }
    expect((await world.admin('GET', `/ip-rules/check?ip=${OTHER}&path=/a`)).status).toBe(422);
  });

  it('that were written by hand and cannot be read match nothing, and hold up no others', async () => {
    const [row] = await world.rows<{
      id: number;
    }>(`INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern, pattern_kind)
      VALUES ('host', ${host.id}, 'allow', '*', 'any') RETURNING id`);
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.ip_rule_options (rule_id, paths) VALUES (${row?.id}, '["/../x"]')`,
    );
    // It allows nobody, so nobody is allowed.
    await waitFor(async () => (await ask(OTHER, '/')) === 403);
    await world.rows(`DELETE FROM tunnel_gateway.ip_rules WHERE id = ${row?.id}`);
    await waitFor(async () => (await ask(OTHER, '/')) === 200);
  });
});
