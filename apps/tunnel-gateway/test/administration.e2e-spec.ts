import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenOnce } from '@gatehouse/net';
import { createSecretBox } from '@gatehouse/persistence';
import { withClient } from '@gatehouse/persistence';
import { reservePort, waitFor } from '@gatehouse/testing';
import { certificateFingerprint, createServerIdentity, parseAgentKey, type TunnelMode } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exchangeIdentity,
  identityStatus,
  loadServerIdentity,
  prepareIdentity,
  retireFormerIdentity,
} from '../src/edge-host/server-identity.js';
import { caller, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
/** The first of three, which are the range of tunnels. */
let firstPort: number;
let ada: { call: Caller; id: number };
let eve: { call: Caller; id: number };
let viewer: { call: Caller; id: number };
beforeAll(async () => {
  firstPort = await threeReservedPorts();
  world = await TunnelWorld.start({
    PORT_RANGE: `${firstPort}-${firstPort + 2}`,
    TUNNEL_PUBLIC_ADDRESS: 'gw.example.org:8024',
    TUNNEL_GATEWAY_PUBLIC_URL: 'https://console.example.net',
  });
  ada = await world.user('ada');
  eve = await world.user('eve');
  viewer = await world.user('vic', 'viewer');
  await world.assign(ada, 'ada.example.org', 'shop.example.org');
  await world.assign(eve, 'eve.example.org', 'eve.apps.example.org');
});
afterAll(() => world.close());

const LOOPBACK = { listen_ip: '127.0.0.1', target_addr: '127.0.0.1:80' };

/** The first of three in a row. */
async function threeReservedPorts(): Promise<number> {
  let first = await reservePort();
  for (let last = first; last < first + 2;) {
    const next = await reservePort();
    if (next !== last + 1) first = next;
    last = next;
  }
  return first;
}

describe('clients', () => {
  it('show their key once and store only a hash', async () => {
    const client = await world.client({}, ada.call);
    expect(client.owner_user_id).toBe(ada.id);
    expect(client.command).toBe(`node gatehouse-agent.mjs --server gw.example.org:8024 --key ${client.key}`);
    const { secret, fingerprint } = parseAgentKey(client.key);
    expect(fingerprint).toBe(world.edges.fingerprint);
    const rows = await world.rows('SELECT * FROM tunnel_gateway.clients');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify((await ada.call('GET', '/clients')).body)).not.toContain(secret);
  });

  it('show the gateway’s key, which can be changed in steps', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-identity-'));
    const box = createSecretBox([Buffer.alloc(32, 1)]);
    await withClient(world.gateway.databaseUrl, async (queries) => {
      const sources = { queries, box, file: join(folder, 'identity.json') };
      // The gateway of the other tests keeps its key.
      await queries.query('BEGIN');
      await queries.query('DELETE FROM tunnel_gateway_ops.server_identity');
      const { fingerprint: first, nextFingerprint } = await loadServerIdentity(sources);
      expect(nextFingerprint).toBeUndefined();
      expect(await exchangeIdentity(sources, 30)).toBeNull();
      const [current, next] = await prepareIdentity(sources);
      expect(current).toBe(first);
      expect(await prepareIdentity(sources)).toEqual([current, next]);
      expect(await loadServerIdentity(sources)).toMatchObject({ fingerprint: first, nextFingerprint: next });
      expect(await exchangeIdentity(sources, 30)).toBe(next);
      const after = await loadServerIdentity(sources);
      expect([after.fingerprint, after.nextFingerprint]).toEqual([next, undefined]);
      const { certificate = '', key, until = 0 } = after.former ?? {};
      expect(certificateFingerprint(certificate)).toBe(first);
      expect(key).toContain('PRIVATE KEY');
      expect(Math.round((until - Date.now()) / 86_400_000)).toBe(30);
      expect((await identityStatus(sources))?.former?.fingerprint).toBe(first);
      expect(await retireFormerIdentity(sources)).toBe(first);
      expect(await retireFormerIdentity(sources)).toBeNull();
      expect((await loadServerIdentity(sources)).former).toBeUndefined();
      // Nothing is left of a key whose time is over, or that is given none.
      await prepareIdentity(sources);
      await exchangeIdentity(sources, 1);
      await queries.query('UPDATE tunnel_gateway_ops.server_identity SET served_until = now() WHERE id = 3');
      expect((await loadServerIdentity(sources)).former).toBeUndefined();
      await prepareIdentity(sources);
      await exchangeIdentity(sources, 0);
      expect((await queries.query('SELECT id FROM tunnel_gateway_ops.server_identity')).rows).toEqual([{ id: 1 }]);
      await queries.query('ROLLBACK');
    });
    rmSync(folder, { recursive: true });
  });

  it('have limits in the documented units', async () => {
    const client = await world.client({
      rate_limit: 100,
      max_conn: 5,
      expire_at: '2020-01-01T00:00:00Z',
      encrypt: false,
    });
    expect(client).toMatchObject({
      rate_limit: 100,
      rate_limit_bytes_per_second: 102_400,
      max_conn: 5,
      expired: true,
      encrypt: false,
    });
    const changed = await world.admin('PATCH', `/clients/${client.id}`, { expire_at: null, status: false });
    expect(changed.body).toMatchObject({ expire_at: null, expired: false, status: 0, rate_limit: 100, encrypt: false });
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ name: 'a', rate_limit: -1 }, 'rate_limit'],
    [{ name: 'a', rate_limit: 2 ** 31 }, 'rate_limit'],
    [{ name: 'a', max_conn: 1.5 }, 'max_conn'],
    [{ name: 'a', status: 2 }, 'status'],
    [{ name: 'a', expire_at: '2030-01-01' }, 'expire_at'],
    [{ name: 'a', owner_user_id: 999_999 }, 'owner_user_id'],
    [{ name: 'a', verify_key: 'mine' }, 'verify_key'],
    [{ name: 'a', inlet_flow: 0 }, 'inlet_flow'],
  ])('are refused as %j', async (body, field) => {
    const { status, body: problem, type } = await world.admin('POST', '/clients', body);
    expect(status).toBe(422);
    expect(type).toContain('application/problem+json');
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    expect(problem.errors.map((error: { field: string }) => error.field)).toContain(field);
  });

  it('are deleted together with their tunnels, rules and policies', async () => {
    const client = await world.client();
    const { body: tunnel } = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: 'a:1',
    });
    for (const about of [
      { scope: 'client', resource_id: client.id },
      { scope: 'tunnel', resource_id: tunnel.id },
    ]) {
      expect((await world.admin('POST', '/ip-rules', { ...about, type: 'deny', pattern: '192.0.2.1' })).status).toBe(
        201,
      );
    }
    expect((await world.admin('DELETE', `/clients/${client.id}`)).status).toBe(204);
    expect((await world.admin('GET', `/tunnels/${tunnel.id}`)).status).toBe(404);
    const left = await world.rows(
      `SELECT id FROM tunnel_gateway.ip_rules WHERE scope IN ('client', 'tunnel') AND resource_id IN ($1, $2)
       UNION ALL SELECT id FROM tunnel_gateway.auth_policies WHERE resource_id = $2`,
      [client.id, tunnel.id],
    );
    expect(left).toEqual([]);
  });

  it('are listed in pages', async () => {
    for (let count = 0; count < 5; count++) await world.client({}, eve.call);
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: AnyJson = await eve.call('GET', `/clients?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ id }: { id: number }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen).size).toBe(5);
    for (const query of ['limit=201', 'limit=0', 'limit=1e2', 'cursor=!', 'cursor=aaaa', 'status=2', 'nothing=1']) {
      expect((await eve.call('GET', `/clients?${query}`)).status, query).toBe(422);
    }
  });
});

describe('owners', () => {
  it('neither see nor change the rows of others', async () => {
    const client = await world.client({}, ada.call);
    const made = {
      tunnels: await ada.call('POST', '/tunnels', { client_id: client.id, mode: 'secret', target_addr: 'a:1' }),
      hosts: await ada.call('POST', '/hosts', { client_id: client.id, host: 'ada.example.org', target_addr: 'a:1' }),
      'ip-rules': await ada.call('POST', '/ip-rules', {
        scope: 'client',
        resource_id: client.id,
        type: 'deny',
        pattern: '192.0.2.1',
      }),
      'auth-policies': await ada.call('POST', '/auth-policies', {
        resource_type: 'client',
        resource_id: client.id,
        type: 'password',
        password: 'x',
      }),
    };
    const paths = [
      `/clients/${client.id}`,
      ...Object.entries(made).map(([name, { status, body }]) => {
        expect(status, name).toBe(201);
        return `/${name}/${body.id}`;
      }),
    ];
    for (const path of paths) {
      expect((await ada.call('GET', path)).status, path).toBe(200);
      expect((await world.admin('GET', path)).status, path).toBe(200);
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const { status } = await eve.call(method, path, method === 'PATCH' ? {} : undefined);
        expect(status, `${method} ${path}`).toBe(404);
      }
      expect((await viewer.call('DELETE', path)).status, path).toBe(403);
      const list = path.slice(0, path.lastIndexOf('/'));
      const ids = ((await eve.call('GET', `${list}?limit=200`)).body.items as { id: number }[]).map(({ id }) => id);
      expect(ids).not.toContain(Number(path.slice(list.length + 1)));
    }
    for (const action of [`rotate-key`, 'kick']) {
      expect((await eve.call('POST', `/clients/${client.id}/${action}`)).status, action).toBe(404);
    }
    expect((await eve.call('GET', `/clients/${client.id}/connections`)).status).toBe(404);
  });

  it('cannot create rows under the names of others', async () => {
    const client = await world.client({}, ada.call);
    expect((await eve.call('POST', '/clients', { name: 'x', owner_user_id: ada.id })).status).toBe(403);
    const own = await world.client({}, eve.call);
    expect((await eve.call('PATCH', `/clients/${own.id}`, { owner_user_id: ada.id })).status).toBe(403);
    expect(
      (await eve.call('POST', '/tunnels', { client_id: client.id, mode: 'secret', target_addr: 'a:1' })).status,
    ).toBe(404);
    expect((await eve.call('POST', '/hosts', { client_id: client.id, host: 'x.org', target_addr: 'a:1' })).status).toBe(
      404,
    );
    const rule = { type: 'deny', pattern: '192.0.2.1' };
    expect((await eve.call('POST', '/ip-rules', { ...rule, scope: 'client', resource_id: client.id })).status).toBe(
      422,
    );
    expect((await eve.call('POST', '/ip-rules', { ...rule, scope: 'user', resource_id: ada.id })).status).toBe(422);
    expect((await eve.call('POST', '/ip-rules', { ...rule, scope: 'user', resource_id: eve.id })).status).toBe(201);
    for (const scope of ['global', 'console']) {
      expect((await eve.call('POST', '/ip-rules', { ...rule, scope })).status).toBe(403);
      expect((await world.admin('POST', '/ip-rules', { ...rule, scope })).status).toBe(201);
    }
    const policy = { type: 'password', password: 'x', resource_type: 'client', resource_id: client.id };
    expect((await eve.call('POST', '/auth-policies', policy)).status).toBe(422);
    expect((await viewer.call('POST', '/clients', { name: 'x' })).status).toBe(403);
    expect((await caller(world.gateway.url, {})('GET', '/clients')).status).toBe(401);
  });
});

describe('ports of tunnels', () => {
  it('belong to one tunnel each, per kind of visitor', async () => {
    const client = await world.client();
    const make = async (body: object): Promise<AnyJson> =>
      (await world.admin('POST', '/tunnels', { client_id: client.id, mode: 'tcp', ...LOOPBACK, ...body })).body;
    const first = await make({ listen_port: 42_001 });
    expect(first.listen_port).toBe(42_001);
    expect(await make({ listen_port: 42_001, mode: 'socks5', target_addr: '' })).toMatchObject({ code: 'port_in_use' });
    expect(await make({ listen_port: 42_001, listen_ip: '0.0.0.0' })).toMatchObject({ code: 'port_in_use' });
    expect(await make({ listen_port: 42_001, mode: 'udp' })).toMatchObject({ listen_port: 42_001 });
    const other = { listen_ip: '127.0.0.2', listen_port: 42_002 };
    expect(await make(other)).toMatchObject(process.platform === 'linux' ? other : { status: 422 });
    const own = await world.admin('PATCH', `/tunnels/${first.id}`, { listen_ip: '0.0.0.0' });
    expect(own.body).toMatchObject({ listen_ip: '0.0.0.0', listen_port: 42_001 });
  });

  it('are chosen among those that no other program has', async () => {
    const client = await world.client();
    const others = [firstPort, firstPort + 2].map((port) => createServer().listen(port, '127.0.0.1'));
    await Promise.all(others.map((server) => once(server, 'listening')));
    for (let round = 0; round < 5; round += 1) {
      const { body } = await world.admin('POST', '/tunnels', { client_id: client.id, mode: 'tcp', ...LOOPBACK });
      expect(body).toMatchObject({ listen_port: firstPort + 1 });
      await waitFor(async () => (await world.admin('GET', `/tunnels/${body.id}`)).body.run_status === 2);
      await world.admin('DELETE', `/tunnels/${body.id}`);
      // The edge closes the port a moment later.
      await waitFor(() =>
        listenOnce(firstPort + 1, '127.0.0.1').then(
          () => true,
          () => false,
        ),
      );
    }
    for (const server of others) server.close();
    await Promise.all(others.map((server) => once(server, 'close')));
  });

  it('are chosen automatically until none is free', async () => {
    const client = await world.client();
    const body = { client_id: client.id, mode: 'tcp', ...LOOPBACK };
    const answers = await Promise.all([0, 1, 2, 3].map(() => world.admin('POST', '/tunnels', body)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 201, 409]);
    const ports = answers.flatMap(({ body: { listen_port: port } }) => (port ? [port] : []));
    expect(ports.toSorted((a, b) => a - b)).toEqual([firstPort, firstPort + 1, firstPort + 2]);
  });

  it('cannot be ports of the gateway, and low ports are only for administrators', async () => {
    const client = await world.client({}, ada.call);
    const make = (port: number, call = ada.call): Promise<AnyJson> =>
      call('POST', '/tunnels', { client_id: client.id, mode: 'tcp', ...LOOPBACK, listen_port: port });
    for (const port of [80, 443, world.edges.ports.agents]) {
      expect((await make(port)).body).toMatchObject({ status: 409, code: 'port_reserved' });
    }
    expect((await make(81)).status).toBe(403);
    expect((await make(81, world.admin)).status).toBe(201);
  });

  it('do not exist in private modes, whose visitors get a key', async () => {
    const client = await world.client();
    const { body } = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: 'a:1',
    });
    expect(body).toMatchObject({
      listen_port: 0,
      visitor_key: expect.stringMatching(/^gtv1\.\d+\.[\w-]{43}\.[\w-]{43}$/),
    });
    expect((await world.admin('GET', `/tunnels/${body.id}`)).body).not.toHaveProperty('visitor_key');
    const { body: renewed } = await world.admin('POST', `/tunnels/${body.id}/rotate-visitor-key`);
    expect(renewed.visitor_key).not.toBe(body.visitor_key);
    expect(JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway.auth_policies'))).not.toContain(
      renewed.visitor_key,
    );
  });

  it.each<[object, string]>([
    [{ mode: undefined }, 'mode'],
    [{ mode: 'ftp' }, 'mode'],
    [{ listen_port: 65_536 }, 'listen_port'],
    [{ listen_ip: '203.0.113.7' }, 'listen_ip'],
    [{ listen_ip: 'localhost' }, 'listen_ip'],
    [{ target_addr: 'nowhere' }, 'target_addr'],
    [{ target_addr: '' }, 'target_addr'],
    [{ mode: 'file', target_addr: '/srv' }, 'target_addr'],
    [{ mode: 'socks5', target_addr: 'a:99999' }, 'target_addr'],
    [{ proxy_protocol: 3 }, 'proxy_protocol'],
    [{ run_status: 1 }, 'run_status'],
  ])('are refused with the field that is wrong: %j', async (body, field) => {
    const client = await world.client();
    const answer = await world.admin('POST', '/tunnels', { client_id: client.id, mode: 'tcp', ...LOOPBACK, ...body });
    expect(answer.body).toMatchObject({ status: 422, errors: [{ field }] });
  });

  it.each<[string, TunnelMode]>([
    ['httpProxy', 'http_proxy'],
    ['mixed', 'mix_proxy'],
    ['TCP', 'tcp'],
  ])('mode %s is %s', async (alias, mode) => {
    const client = await world.client();
    const body = { client_id: client.id, mode: alias, ...LOOPBACK, listen_port: 43_000 + mode.length };
    const answer = await world.admin('POST', '/tunnels', {
      ...body,
      ...(mode !== 'tcp' && { target_addr: '10.0.0.0/8:80,443' }),
    });
    expect(answer.body).toMatchObject({ mode });
  });
});

describe('hosts', () => {
  it('have unique names and locations', async () => {
    const client = await world.client();
    const make = (body: object): Promise<AnyJson> =>
      world.admin('POST', '/hosts', { client_id: client.id, target_addr: 'http://127.0.0.1:80', ...body });
    const first = await make({ host: 'Bücher.Example.', location: '/api/', scheme: 'http' });
    expect(first.body).toMatchObject({
      host: 'xn--bcher-kva.example',
      location: '/api',
      scheme: 'http',
      has_cert: false,
    });
    expect((await make({ host: 'xn--bcher-kva.example', location: '/api' })).body).toMatchObject({
      code: 'host_conflict',
    });
    expect((await make({ host: 'bücher.example', location: '/api', scheme: 'https' })).status).toBe(201);
    expect((await make({ host: 'bücher.example', location: '/apix' })).status).toBe(201);
    expect((await world.admin('PATCH', `/hosts/${first.body.id}`, { scheme: 'all' })).status).toBe(409);
    const { body: found } = await world.admin('GET', `/hosts?host=${encodeURIComponent('BÜCHER.example')}`);
    expect(found.items).toHaveLength(3);
  });

  it('have one owner per name, and never use the name of the console', async () => {
    const [mine, hers] = [await world.client({}, ada.call), await world.client({}, eve.call)];
    const make = async (call: Caller, client: AnyJson, host: string, location = '/'): Promise<unknown> => {
      const { status, body } = await call('POST', '/hosts', {
        client_id: client.id,
        host,
        location,
        target_addr: 'a:1',
      });
      return status === 201 ? body : body.code;
    };
    await make(ada.call, mine, 'shop.example.org');
    await make(ada.call, mine, '*.ada.example.org');
    for (const host of ['shop.example.org', 'x.ada.example.org', '*.x.ada.example.org', '*.ada.example.org']) {
      expect(await make(eve.call, hers, host, '/login'), host).toBe('host_conflict');
    }
    const other: AnyJson = await make(eve.call, hers, 'eve.example.org');
    const moved = await eve.call('PATCH', `/hosts/${other.id}`, { host: 'shop.example.org', location: '/login' });
    expect(moved.body).toMatchObject({ status: 409, code: 'host_conflict' });
    expect(await make(ada.call, mine, 'shop.example.org', '/login')).toMatchObject({ location: '/login' });
    expect(await make(world.admin, hers, 'shop.example.org', '/eve')).toMatchObject({ location: '/eve' });
    // Cookies ignore ports: any server at the console's name gets its sessions.
    for (const host of ['console.example.net', '*.example.net', 'CONSOLE.example.net.']) {
      expect(await make(eve.call, hers, host), host).toBe('forbidden');
    }
    expect((await eve.call('PATCH', `/hosts/${other.id}`, { host: '*.net' })).status).toBe(403);
    expect((await eve.call('PATCH', `/hosts/${other.id}`, { status: 0 })).status).toBe(200);
    expect(await make(world.admin, hers, 'console.example.net')).toMatchObject({ host: 'console.example.net' });
    // Hosts of administrators for every name do not take the individual names.
    await make(world.admin, await world.client(), '*.apps.example.org');
    expect(await make(eve.call, hers, 'eve.apps.example.org')).toMatchObject({ host: 'eve.apps.example.org' });
  });

  it('rewrite header fields, except those of the gateway', async () => {
    const client = await world.client();
    const { body: host } = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'headers.example',
      target_addr: 'a:1',
      rewrite_host: 'inner:8080',
      request_headers: { 'X-Tenant': '7' },
      response_headers: { Server: '' },
    });
    expect(host).toMatchObject({
      rewrite_host: 'inner:8080',
      request_headers: { 'X-Tenant': '7' },
      response_headers: { Server: '' },
    });
    for (const name of ['Transfer-Encoding', 'X-Forwarded-For', 'Host', 'a b', 'Proxy-Authorization']) {
      const answer = await world.admin('PATCH', `/hosts/${host.id}`, { request_headers: { [name]: 'x' } });
      expect(answer.status, name).toBe(422);
    }
    const split = await world.admin('PATCH', `/hosts/${host.id}`, { request_headers: { a: 'x\r\ny: z' } });
    expect(split.status).toBe(422);
  });

  it('use certificate files from one folder, which only administrators can set', async () => {
    const folder = join(world.gateway.home, 'tunnel-gateway', 'certificates');
    mkdirSync(folder, { recursive: true });
    const [right, other] = [createServerIdentity('right'), createServerIdentity('other')];
    for (const [name, text] of Object.entries({
      'right.pem': right.certificate,
      'right.key': right.key,
      'other.key': other.key,
    })) {
      writeFileSync(join(folder, name), text);
    }
    writeFileSync(join(world.gateway.home, 'outside.pem'), right.certificate);
    symlinkSync(join(world.gateway.home, 'outside.pem'), join(folder, 'link.pem'));
    const client = await world.client({}, ada.call);
    const make = (cert_path: string | undefined, key_path: string | undefined, call = world.admin): Promise<AnyJson> =>
      call('POST', '/hosts', { client_id: client.id, host: 'tls.example', target_addr: 'a:1', cert_path, key_path });
    for (const [cert, key] of [
      ['right.pem', undefined],
      ['right.pem', 'other.key'],
      ['right.key', 'right.pem'],
      ['missing.pem', 'right.key'],
      ['../../outside.pem', 'right.key'],
      ['link.pem', 'right.key'],
      ['/etc/passwd', 'right.key'],
    ]) {
      expect((await make(cert, key)).status, `${cert} ${key}`).toBe(422);
    }
    expect((await make('right.pem', 'right.key', ada.call)).status).toBe(403);
    const made = await make('right.pem', 'right.key');
    expect(made).toMatchObject({ status: 201, body: { has_cert: true } });
    expect(JSON.stringify(made.body)).not.toContain('right.pem');
  });

  it.each([
    [{ host: undefined }, 422],
    [{ target_addr: undefined }, 422],
    [{ host: 'a b' }, 422],
    [{ host: '10.0.0.1' }, 422],
    [{ host: '*' }, 403],
    [{ location: '/a/../b' }, 422],
    [{ target_addr: 'ftp://a:21' }, 422],
    [{ host: '*.acme.example', auto_https: 1 }, 422],
  ])('are refused as %j', async (body, status) => {
    const client = await world.client({}, ada.call);
    const answer = await ada.call('POST', '/hosts', {
      client_id: client.id,
      host: 'x.example',
      target_addr: 'a:1',
      ...body,
    });
    expect(answer.status).toBe(status);
  });
});

describe('rules and policies', () => {
  it('store patterns in canonical form and suggest a valid one', async () => {
    const make = (body: object): Promise<AnyJson> =>
      world.admin('POST', '/ip-rules', { scope: 'global', type: 'blacklist', ...body });
    expect((await make({ pattern: '2001:DB8::0:1', pattern_kind: 'ip' })).body).toMatchObject({
      type: 'deny',
      pattern: '2001:db8::1',
      pattern_kind: 'exact',
      resource_id: 0,
    });
    expect((await make({ pattern: '10.1.2.3/8', pattern_kind: 'cidr' })).body.detail).toContain('10.0.0.0/8');
    expect((await make({ pattern: '192.0.2.1', resource_id: 5 })).status).toBe(422);
    expect((await make({})).status).toBe(422);
    expect((await make({ pattern: '192.0.2.1', type: undefined })).status).toBe(422);
    const { body: rule } = await make({ pattern: '192.0.2.9', priority: 5, remark: 'noise' });
    const changed = await world.admin('PATCH', `/ip-rules/${rule.id}`, { pattern: '10.*', pattern_kind: 'wildcard' });
    expect(changed.body).toMatchObject({ pattern: '10.*', priority: 5, remark: 'noise' });
    expect((await world.admin('PATCH', `/ip-rules/${rule.id}`, { pattern_kind: 'country' })).status).toBe(422);
    // Otherwise nobody could come in.
    expect((await world.admin('DELETE', `/ip-rules/${rule.id}`)).status).toBe(204);
  });

  it('store only hashes of passwords and show none', async () => {
    const client = await world.client();
    const about = { resource_type: 'client', resource_id: client.id };
    const basic = await world.admin('POST', '/auth-policies', {
      ...about,
      type: 'basic',
      users: [
        { username: 'ann', password: 'one' },
        { username: 'bob', password: 'two' },
      ],
    });
    expect(basic.body).toMatchObject({ users: ['ann', 'bob'], has_password: true, ttl_seconds: 7_200, enabled: 1 });
    const [row] = await world.rows('SELECT password FROM tunnel_gateway.auth_policies WHERE id = $1', [basic.body.id]);
    expect(row.password).toMatch(/^ann:\$argon2id\$.*\nbob:\$argon2id\$/);
    expect(JSON.stringify(basic.body)).not.toContain('argon2');
    const changed = await world.admin('PATCH', `/auth-policies/${basic.body.id}`, { enabled: false, ttl_seconds: 0 });
    expect(changed.body).toMatchObject({ enabled: 0, ttl_seconds: 0, users: ['ann', 'bob'] });
  });

  it.each([
    [{}, 'type'],
    [{ type: 'password' }, 'password'],
    [{ type: 'basic' }, 'users'],
    [{ type: 'callback' }, 'callback_url'],
    [{ type: 'password', password: 'x', callback_url: 'https://a.example' }, 'callback_url'],
    [{ type: 'callback', callback_url: 'http://auth.example' }, 'callback_url'],
    [{ type: 'callback', callback_url: 'https://127.0.0.1' }, 'callback_url'],
    [{ type: 'callback', callback_url: 'https://[::ffff:10.0.0.1]/' }, 'callback_url'],
    [{ type: 'callback', callback_url: 'https://0x7f.1/' }, 'callback_url'],
    [{ type: 'callback', callback_url: 'https://localhost/' }, 'callback_url'],
    [{ type: 'password', password: 'x', ttl_seconds: 2_592_001 }, 'ttl_seconds'],
    [{ type: 'basic', users: [{ username: 'a:b', password: 'x' }] }, 'users[0].username'],
    [{ type: 'oidc' }, 'type'],
  ])('refuse %j', async (body, field) => {
    const client = await world.client({}, ada.call);
    const answer = await ada.call('POST', '/auth-policies', {
      resource_type: 'client',
      resource_id: client.id,
      ...body,
    });
    expect(answer.body).toMatchObject({ status: 422, errors: [{ field }] });
  });
});
