import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseLine } from './support/database-line.js';
import { ListServer } from './support/list-server.js';
import { askFrom, closed, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

const OURS = '198.51.100.7';
const THEIRS = '203.0.113.9';

let world: TunnelWorld;
let source: ListServer;
let host: AnyJson;
let tunnel: AnyJson;
let made = 0;
beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1/32' });
  source = await new ListServer().start();
  world.onClose(() => source.close());
  const origin = createServer((_, response) => response.end('in')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  world.onClose(() => origin.close());
  const client = await world.client();
  await world.online(client.key);
  const { body } = await world.admin('POST', '/hosts', {
    client_id: client.id,
    host: 'lists.example',
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  host = body;
  tunnel = await world.tunnel(client.id, await world.echo(), { accept_proxy_protocol: true });
  await waitFor(async () => (await visitFrom(OURS)) === 200 && (await connectFrom(OURS)));
});
afterAll(() => world.close());

/** The status for a visitor whose address a trusted proxy forwards. */
function visitFrom(address: string): Promise<number> {
  const headers = { host: 'lists.example', 'x-forwarded-for': address };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: world.edges.ports.http, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** A TCP visitor that a trusted proxy names, once it has an echo; null: it is refused. */
function visitorFrom(address: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(tunnel.listen_port, '127.0.0.1');
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('data', () => resolve(socket));
    socket.write(`PROXY TCP4 ${address} 127.0.0.1 4000 5000\r\nhello`);
  });
}

async function connectFrom(address: string): Promise<boolean> {
  const socket = await visitorFrom(address);
  socket?.destroy();
  return socket !== null;
}

/** A list from the local server, after its first fetch. */
async function listOf(answer: ListServer['answer'], body: object = {}): Promise<AnyJson> {
  source.answer = answer;
  const name = `list-${++made}`;
  const { status, body: list } = await world.admin('POST', '/address-lists', {
    name,
    url: source.url,
    allow_private: true,
    ...body,
  });
  expect(status).toBe(201);
  return waitFor(async () => {
    const { body: now } = await world.admin('GET', `/address-lists/${list.id}`);
    return now.checked_at !== null && now;
  });
}

async function refreshed(list: AnyJson, answer: ListServer['answer'] = source.answer): Promise<AnyJson> {
  source.answer = answer;
  const { status, body } = await world.admin('POST', `/address-lists/${list.id}/refresh`);
  expect(status).toBe(200);
  return body;
}

async function inForce(rule: object, work: (rule: AnyJson) => Promise<void>): Promise<void> {
  const { status, body } = await world.admin('POST', '/ip-rules', { pattern_kind: 'list', ...rule });
  expect(status, JSON.stringify(body)).toBe(201);
  await work(body);
  await world.admin('DELETE', `/ip-rules/${body.id}`);
}

describe('lists of addresses', () => {
  it('are fetched, and say what they have', async () => {
    const list = await listOf(`\uFEFF# ours\r\n${OURS}\r\n203.0.113.0/24 ; theirs\r\nnonsense\r\n`);
    expect(list).toMatchObject({
      url: source.url,
      interval_minutes: 1440,
      rules: 0,
      entries: 2,
      bad_line_count: 1,
      bad_lines: [{ line: 4, text: 'nonsense' }],
      last_error: null,
    });
    expect(list.refreshed_at).toBe(list.checked_at);
    expect(list).not.toHaveProperty('content');
  });

  it('are asked for with their validators, and keep what they have after 304', async () => {
    const list = await listOf(`${OURS}\n`);
    source.asked.length = 0;
    const again = await refreshed(list);
    expect(source.asked).toEqual([expect.stringMatching(/^"/)]);
    expect(again).toMatchObject({ entries: 1, refreshed_at: list.refreshed_at, last_error: null });
    expect(Date.parse(again.checked_at)).toBeGreaterThanOrEqual(Date.parse(list.checked_at));
  });

  it('keep what they have when a fetch fails, and say why', async () => {
    const list = await listOf(`${OURS}\n`);
    const oversized: ListServer['answer'] = (_, response) => {
      response.on('error', () => undefined);
      response.writeHead(200).end(`${'#'.repeat(1023)}\n`.repeat(8 * 1024 + 1));
    };
    const crowded = Array.from({ length: 200_001 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`).join('\n');
    expect(await refreshed(list, crowded.slice(0, crowded.lastIndexOf('\n')))).toMatchObject({ entries: 200_000 });
    const { refreshed_at: kept } = await refreshed(list, `${OURS}\n`);
    const wrong: [ListServer['answer'], string][] = [
      [(_, response) => response.writeHead(500).end(), 'the answer was 500'],
      [(_, response) => response.destroy(), 'could not be asked'],
      ['', 'it has no address'],
      ['<html>\nnot found\n</html>\n', 'it has no address'],
      [oversized, 'it has more than 8388608 bytes'],
      [crowded, 'it has more than 200000 entries'],
      [(_, response) => response.writeHead(302, { location: `/again` }).end(), 'it redirects more than 3 times'],
      [(_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'), 'compressed'],
    ];
    for (const [answer, why] of wrong) {
      const after = await refreshed(list, answer);
      expect(after.last_error, why).toContain(why);
      expect(after).toMatchObject({ entries: 1, refreshed_at: kept });
    }
    expect(await refreshed(list, `${OURS}\n${THEIRS}\n`)).toMatchObject({ entries: 2, last_error: null });
  });

  it('are not fetched from private addresses, unless the list says so, and never after a redirect', async () => {
    const elsewhere = await new ListServer().start();
    world.onClose(() => elsewhere.close());
    elsewhere.answer = `${THEIRS}\n`;
    const { status } = await world.admin('POST', '/address-lists', { name: 'private', url: source.url });
    expect(status).toBe(422);
    const secure = source.url.replace('http:', 'https:');
    expect((await world.admin('POST', '/address-lists', { name: 'private', url: secure })).status).toBe(422);
    const list = await listOf((_, response) => response.writeHead(302, { location: elsewhere.url }).end());
    expect(list.last_error).toBe(`${new URL(elsewhere.url).host} is not asked without TLS`);
    const toSecure = elsewhere.url.replace('http:', 'https:');
    const after = await refreshed(list, (_, response) => response.writeHead(307, { location: toSecure }).end());
    expect(after.last_error).toContain('127.0.0.1 is not to be reached');
    expect(elsewhere.asked).toEqual([]);
    const moved = await refreshed(list, ({ url }, response) => {
      if (url === '/list.txt') response.writeHead(301, { location: '/moved.txt' }).end();
      else response.end(`${OURS}\n`);
    });
    expect(moved).toMatchObject({ last_error: null, entries: 1 });
  });

  it('are checked when they are written, and do not lose each other', async () => {
    const url = 'https://lists.example.org/a.txt';
    for (const wrong of [
      { name: 'with space' },
      { url: 'ftp://a' },
      { interval_minutes: 9 },
      { interval_minutes: 10_081 },
    ]) {
      const body = { name: 'fine', url, ...wrong };
      expect((await world.admin('POST', '/address-lists', body)).status, JSON.stringify(wrong)).toBe(422);
    }
    const list = await listOf(`${OURS}\n`, { name: 'Office', interval_minutes: 10 });
    expect(list.name).toBe('office');
    expect((await world.admin('POST', '/address-lists', { name: 'OFFICE', url })).status).toBe(409);
    expect((await world.admin('PATCH', `/address-lists/${list.id}`, { name: 'other' })).status).toBe(422);
    const { body } = await world.admin('PATCH', `/address-lists/${list.id}`, { interval_minutes: 60 });
    expect(body).toMatchObject({ interval_minutes: 60, entries: 1, url: source.url });
    // Without the permission, its address is refused.
    expect((await world.admin('PATCH', `/address-lists/${list.id}`, { allow_private: false })).status).toBe(422);
  });

  it('are fetched again when their time has come, or their address changes', async () => {
    const list = await listOf(`${OURS}\n`);
    const other = await new ListServer().start();
    world.onClose(() => other.close());
    other.answer = `${OURS}\n${THEIRS}\n`;
    await world.admin('PATCH', `/address-lists/${list.id}`, { url: other.url });
    await waitFor(async () => (await world.admin('GET', `/address-lists/${list.id}`)).body.entries === 2);
    expect(other.asked).toEqual([undefined]);
  });
});

describe('rules about lists', () => {
  it('keep visitors out of a port and a host, and follow the list within seconds', async () => {
    const list = await listOf(`${THEIRS}\n`);
    await inForce({ scope: 'global', type: 'deny', pattern: list.name }, async (rule) => {
      expect(rule.warning).toBe(null);
      await waitFor(async () => (await visitFrom(THEIRS)) === 403);
      expect([await visitFrom(OURS), await connectFrom(OURS), await connectFrom(THEIRS)]).toEqual([200, true, false]);
      const visitor = await visitorFrom(OURS);
      if (visitor === null) throw new Error('refused');
      const end = closed(visitor);
      await refreshed(list, `${OURS}\n`);
      await end;
      await waitFor(async () => (await visitFrom(THEIRS)) === 200);
      expect([await visitFrom(OURS), await connectFrom(OURS), await connectFrom(THEIRS)]).toEqual([403, false, true]);
    });
    await waitFor(async () => (await visitFrom(OURS)) === 200);
  });

  it('let in visitors of a list alone', async () => {
    const list = await listOf(`${OURS}\n`);
    for (const [scope, id] of [
      ['host', host.id],
      ['client', host.client_id],
    ] as const) {
      await inForce({ scope, resource_id: id, type: 'allow', pattern: list.name }, async () => {
        await waitFor(async () => (await visitFrom(THEIRS)) === 403);
        expect(await visitFrom(OURS)).toBe(200);
      });
      await waitFor(async () => (await visitFrom(THEIRS)) === 200);
    }
  });

  it('are explained with the name of the list', async () => {
    const list = await listOf(`${THEIRS}\n`);
    await inForce({ scope: 'tunnel', resource_id: tunnel.id, type: 'deny', pattern: list.name }, async (rule) => {
      const check = `/ip-rules/check?resource_type=tunnel&resource_id=${tunnel.id}&ip=`;
      const { body } = await world.admin('GET', `${check}${THEIRS}`);
      expect(body.allowed).toBe(false);
      expect(body.levels.at(-1)).toMatchObject({
        outcome: 'denied',
        unresolved: false,
        rule: { id: rule.id, pattern: list.name, pattern_kind: 'list' },
      });
      expect((await world.admin('GET', `${check}${OURS}`)).body.allowed).toBe(true);
      await refreshed(list, `${OURS}\n`);
      expect((await world.admin('GET', `${check}${OURS}`)).body.allowed).toBe(false);
    });
  });

  it('keep their list, and are counted there', async () => {
    const list = await listOf(`${THEIRS}\n`);
    await inForce({ scope: 'global', type: 'deny', pattern: list.name.toUpperCase(), priority: 900 }, async () => {
      const { status, body } = await world.admin('DELETE', `/address-lists/${list.id}`);
      expect([status, body.code]).toEqual([409, 'conflict']);
      expect((await world.admin('GET', `/address-lists/${list.id}`)).body).toMatchObject({ rules: 1, entries: 1 });
    });
    expect((await world.admin('DELETE', `/address-lists/${list.id}`)).status).toBe(204);
    const gone = { scope: 'global', type: 'deny', pattern_kind: 'list', pattern: list.name };
    expect((await world.admin('POST', '/ip-rules', gone)).status).toBe(422);
  });

  it('warn while their list was never loaded, and match nobody', async () => {
    const ready = async () => (await (await fetch(`${world.gateway.url}/readyz`)).json()) as AnyJson;
    const list = await listOf((_, response) => response.writeHead(404).end());
    expect(list).toMatchObject({ refreshed_at: null, last_error: 'the answer was 404' });
    await inForce({ scope: 'global', type: 'deny', pattern: list.name }, async (rule) => {
      expect(rule.warning).toContain(list.name);
      const { body } = await world.admin('GET', `/ip-rules/check?ip=${OURS}`);
      expect(body).toMatchObject({ allowed: true, levels: [{ outcome: 'no_match', unresolved: true }] });
      expect(await visitFrom(OURS)).toBe(200);
      await waitFor(async () => (await ready()).failing?.includes('address_lists'));
      const { body: board } = await world.admin('GET', '/dashboard');
      expect(board.warnings.map(({ code }: AnyJson) => code)).toContain('list_rules_without_list');
      await refreshed(list, `${OURS}\n`);
      await waitFor(async () => (await visitFrom(OURS)) === 403);
      await waitFor(async () => (await ready()).failing?.length === 0);
    });
    const empty = await listOf((_, response) => response.writeHead(404).end());
    await inForce({ scope: 'host', resource_id: host.id, type: 'allow', pattern: empty.name }, async () => {
      await waitFor(async () => (await visitFrom(OURS)) === 403);
    });
  });

  it('of users name lists that they cannot see', async () => {
    const list = await listOf(`${THEIRS}\n`);
    const ulf = await world.user('ulf');
    const rule = { scope: 'user', resource_id: ulf.id, type: 'deny', pattern_kind: 'list', pattern: list.name };
    expect((await ulf.call('POST', '/ip-rules', rule)).status).toBe(201);
    expect((await ulf.call('GET', '/address-lists')).status).toBe(403);
  });

  it('of the console are in force with their list', async () => {
    const list = await listOf('127.0.0.1\n');
    const rule = { scope: 'console', type: 'deny', pattern_kind: 'list', pattern: list.name };
    const { status, body } = await world.admin('POST', '/ip-rules', rule);
    expect([status, body.code]).toEqual([409, 'self_lockout']);
    await refreshed(list, `${THEIRS}\n`);
    await inForce(rule, async () => {
      const { body: check } = await world.admin('GET', `/ip-rules/check?resource_type=console&ip=${THEIRS}`);
      expect(check.allowed).toBe(false);
      await refreshed(list, '127.0.0.1\n');
      await waitFor(async () => (await world.admin('GET', '/auth/me')).status === 403);
      await world.rows(`DELETE FROM tunnel_gateway.ip_rules WHERE scope = 'console'`);
      await waitFor(async () => (await world.admin('GET', '/auth/me')).status === 200);
    });
  });
});

describe('where GEOIP_STRICT is set', () => {
  it('a rule that denies a list that was never loaded denies everybody', async () => {
    await using strict = await TunnelWorld.start({ GEOIP_STRICT: 'true' });
    const { body: list } = await strict.admin('POST', '/address-lists', {
      name: 'away',
      url: 'http://127.0.0.1:9/list.txt',
      allow_private: true,
    });
    const rule = { scope: 'global', type: 'deny', pattern: list.name, pattern_kind: 'list' };
    expect((await strict.admin('POST', '/ip-rules', rule)).body.warning).toContain('denies everybody');
    expect((await strict.admin('GET', `/ip-rules/check?ip=${OURS}`)).body.allowed).toBe(false);
  });
});

describe('an edge that starts while the database is away', () => {
  it('has the lists from its snapshot', async () => {
    let line: DatabaseLine | undefined;
    await using away = await TunnelWorld.start({}, async (url) => {
      line = await DatabaseLine.to(url);
      return line.url;
    });
    away.onClose(() => line?.mend());
    const client = await away.client();
    await away.online(client.key);
    const { listen_port: port } = await away.tunnel(client.id, await away.echo());
    source.answer = '127.0.0.2\n';
    const { body: list } = await away.admin('POST', '/address-lists', {
      name: 'kept',
      url: source.url,
      allow_private: true,
    });
    await away.admin('POST', `/address-lists/${list.id}/refresh`);
    await away.admin('POST', '/ip-rules', { scope: 'global', type: 'deny', pattern: 'kept', pattern_kind: 'list' });
    await waitFor(async () => (await askFrom('127.0.0.2', port, 'x')) !== 'x');
    const snapshot = join(away.gateway.home, 'tunnel-gateway', 'snapshot.json');
    await waitFor(() => readFileSync(snapshot, 'utf8').includes('"kind":"list"'));
    line?.cut();
    const before = away.edges.pid ?? 0;
    process.kill(before, 'SIGKILL');
    await waitFor(async () => (await away.ask(port, 'still')) === 'still', { timeoutMs: 15_000 });
    expect(away.edges.pid).not.toBe(before);
    expect(await askFrom('127.0.0.2', port, 'x')).not.toBe('x');
    expect(await askFrom('127.0.0.3', port, 'x')).toBe('x');
    await waitFor(async () => (await away.edges.status()).source === 'snapshot');
  });
});
