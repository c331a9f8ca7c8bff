import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { AuditChain, AuditLog, AuditRetention, AuditStore, systemEntry } from '@gatehouse/audit';
import type { AuditLogPage, AuditLogView, AuditVerification } from '@gatehouse/contracts';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { openServiceDatabase } from './support/service-database.js';
import type { ServiceDatabase } from './support/service-database.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

async function list(query = ''): Promise<AuditLogPage> {
  const { status, body } = await gateway.call<AuditLogPage>('GET', `/audit-logs${query}`);
  expect(status).toBe(200);
  return body;
}
const newest = async (): Promise<AuditLogView> => (await list('?limit=1')).items[0]!;
const verify = async (): Promise<AuditVerification> =>
  (await gateway.call<AuditVerification>('GET', '/audit-logs/verify')).body;
const sql = (text: string, values: unknown[] = []): Promise<unknown> =>
  gateway.app.app.get(DataSource).query(text, values);

describe('what is recorded', () => {
  it('a login, by whom and from where', async () => {
    await gateway.call('POST', '/auth/login', { password: 'a password for tests' }, { 'user-agent': 'tester/1' });
    expect(await newest()).toMatchObject({
      action: 'auth.login',
      actor: { type: 'password', name: 'administrator' },
      ip: expect.stringContaining('127.0.0.1'),
      user_agent: 'tester/1',
      request_id: expect.any(String),
      method: 'POST',
      path: '/api/v1/auth/login',
      status: 200,
      success: true,
      error: null,
      duration_ms: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('a login that failed', async () => {
    await gateway.call('POST', '/auth/login', { password: 'WRONG-PASSWORD' });
    expect(await newest()).toMatchObject({
      action: 'auth.login',
      status: 401,
      success: false,
      error: expect.stringContaining('LOGIN_FAILED'),
      actor: { type: 'anonymous', name: null },
    });
  });

  it('creations, changes and deletions, field by field, without secrets', async () => {
    const url = 'https://user:PASS-IN-URL@sub.example/TOKEN-IN-PATH?token=TOKEN-IN-QUERY';
    const created = await gateway.call('POST', '/subscriptions', { name: 'mine', url, enabled: false });
    const { id } = created.body;
    const row = await newest();
    expect(row).toMatchObject({
      action: 'subscription.create',
      resource_type: 'subscription',
      resource_id: String(id),
      resource_name: 'mine',
      status: 201,
    });
    expect(row.changes).toContainEqual({ field: 'name', before: null, after: 'mine' });
    expect(row.changes).toContainEqual({ field: 'url', before: null, after: 'https://***@sub.example/***?***' });

    await gateway.call('PUT', `/subscriptions/${id}`, { name: 'yours', url: `${url}2` });
    expect((await newest()).changes).toEqual([
      { field: 'name', before: 'mine', after: 'yours' },
      { field: 'url', before: 'https://***@sub.example/***?***', after: 'https://***@sub.example/***?***' },
    ]);

    await gateway.call('DELETE', `/subscriptions/${id}`);
    const gone = await newest();
    expect(gone).toMatchObject({ action: 'subscription.delete', resource_name: 'yours', success: true });
    expect(gone.changes).toContainEqual({ field: 'name', before: 'yours', after: null });
  });

  it('nested options of nodes, credentials and paths hidden', async () => {
    const link = (password: string, path: string): string =>
      `trojan://${password}@192.0.2.9:443?type=ws&path=${path}&sni=a.example#T`;
    const node = await gateway.call('POST', '/proxies', {
      name: 'T',
      type: 'trojan',
      raw_config: link('NODE-PW-1', '%2Fws-path-1'),
    });
    expect(node.status).toBe(201);
    const { id } = node.body;
    expect((await newest()).changes).toContainEqual({ field: 'config.password', before: null, after: '***' });
    await gateway.call('PUT', `/proxies/${id}`, { raw_config: link('NODE-PW-2', '%2Fws-path-2') });
    const { changes } = await newest();
    expect(changes).toContainEqual({ field: 'config.password', before: '***', after: '***' });
    expect(changes).toContainEqual({ field: 'config.transport.path', before: '***', after: '***' });
    expect(JSON.stringify(await list('?limit=100'))).not.toMatch(/NODE-PW|ws-path/);
  });

  it('rules, groups, the default policy, settings and API keys', async () => {
    const rule = await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.example', target: 'DIRECT' });
    await gateway.call('PUT', `/rules/${rule.body.id}`, { type: 'DOMAIN', payload: 'b.example', target: 'DIRECT' });
    expect((await newest()).changes).toContainEqual({ field: 'payload', before: 'a.example', after: 'b.example' });

    expect((await gateway.call('PUT', '/outbound/default-policy', { policy: 'REJECT' })).status).toBe(200);
    expect(await newest()).toMatchObject({
      action: 'default_policy.update',
      changes: [{ field: 'default_policy', before: 'PROXY', after: 'REJECT' }],
    });

    expect((await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: 'DIRECT' })).status).toBe(200);
    const switched = await newest();
    expect(switched).toMatchObject({ action: 'outbound_group.switch', resource_id: 'PROXY' });
    expect(switched.changes).toContainEqual({ field: 'selected_tag', before: null, after: 'DIRECT' });

    await gateway.call('PUT', '/settings', {
      'auth.token_ttl_sec': '1800',
      'geo.asn_url': 'https://u:SET-PW@m.example/x',
    });
    expect((await newest()).changes).toEqual([
      { field: 'auth.token_ttl_sec', before: '3600', after: '1800' },
      { field: 'geo.asn_url', before: expect.any(String), after: 'https://***@m.example/***' },
    ]);

    const key = await gateway.call('POST', '/api-keys', { name: 'robot', scopes: ['read'] });
    expect(await newest()).toMatchObject({
      action: 'api_key.create',
      resource_name: 'robot',
      resource_id: String(key.body.id),
    });
    expect(JSON.stringify(await newest())).not.toContain(key.body.key);
    await gateway.call('DELETE', `/api-keys/${key.body.id}`);
    expect((await newest()).changes).toEqual([{ field: 'revoked_at', before: null, after: expect.any(String) }]);
  });

  it('failed calls of any caller, wherever they failed', async () => {
    const read = await gateway.call('POST', '/api-keys', { name: 'reader', scopes: ['read'] });
    const asReader = { authorization: `Bearer ${read.body.key}` };
    const calls: [string, string, unknown, Record<string, string>, number, string][] = [
      ['POST', '/rules', { type: 'MATCH' }, { authorization: 'Bearer nonsense' }, 401, 'UNAUTHORIZED'],
      ['POST', '/rules', { type: 'MATCH', target: 'DIRECT' }, asReader, 403, 'FORBIDDEN'],
      ['POST', '/rules', { nonsense: 1 }, {}, 400, 'INVALID_ARGUMENT'],
      ['POST', '/rules', '{"type', {}, 400, 'INVALID_ARGUMENT'],
      ['POST', '/rules', 'x', { 'content-type': 'text/plain' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['DELETE', '/rules/987654', undefined, {}, 404, 'NOT_FOUND'],
      ['POST', '/no/such/route', {}, {}, 404, 'NOT_FOUND'],
      ['PATCH', '/settings', {}, {}, 405, 'METHOD_NOT_ALLOWED'],
    ];
    for (const [method, path, body, headers, status, code] of calls) {
      const answer = await gateway.call(method, path, body, headers);
      expect([path, answer.status]).toEqual([path, status]);
      expect(await newest(), `${method} ${path}`).toMatchObject({
        method,
        path: `/api/v1${path}`,
        status,
        success: false,
        error: expect.stringContaining(code),
        changes: [],
        request_id: answer.body.request_id,
      });
    }
    const forbidden = (await list('?actor=reader')).items[0];
    expect(forbidden).toMatchObject({ actor: { type: 'api_key', id: read.body.id, name: 'reader' }, status: 403 });
  });

  it('a failure of the service itself', async () => {
    await sql('ALTER TABLE rules RENAME TO rules_away');
    try {
      const failed = await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'x.example', target: 'DIRECT' });
      expect(failed.status).toBe(500);
      expect(await newest()).toMatchObject({ action: 'rule.create', status: 500, success: false });
    } finally {
      await sql('ALTER TABLE rules_away RENAME TO rules');
    }
  });

  it('no calls that only ask', async () => {
    const before = await newest();
    await gateway.call('GET', '/settings');
    await gateway.call('POST', '/rules/test', { url: 'https://example.com' });
    expect((await newest()).id).toBe(before.id);
  });

  it('a call whose client had left, and a repeat that did nothing', async () => {
    const login = await gateway.call('POST', '/auth/login', { password: 'a password for tests' });
    const authorization = `Bearer ${login.body.token}`;
    const before = await newest();
    const body = JSON.stringify({ type: 'DOMAIN', payload: 'left.example', target: 'DIRECT' });
    const socket = connect(gateway.app.port, '127.0.0.1', () => {
      const head = `Host: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
      socket.write(`POST /api/v1/rules HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`, () =>
        socket.destroy(),
      );
    });
    await waitFor(async () => (await newest()).id > before.id);
    expect(await newest()).toMatchObject({ action: 'rule.create', success: true, status: 201 });
    expect((await newest()).changes).toContainEqual({ field: 'payload', before: null, after: 'left.example' });

    const once = { 'idempotency-key': 'only-once' };
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'once.example', target: 'DIRECT' }, once);
    expect((await newest()).changes.length).toBeGreaterThan(0);
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'once.example', target: 'DIRECT' }, once);
    expect(await newest()).toMatchObject({ action: 'rule.create', status: 201, changes: [] });
  });

  it('changes that the service made: a choice that is gone', async () => {
    const link = 'socks5://192.0.2.77:1080#gone';
    const node = await gateway.call('POST', '/proxies', { name: 'gone', type: 'socks5', raw_config: link });
    expect((await gateway.call('PUT', '/outbound/groups/PROXY', { proxy: 'gone' })).status).toBe(200);
    await gateway.call('DELETE', `/proxies/${node.body.id}`);
    await waitFor(async () => (await list('?actor=system&action=outbound_group.choice_gone')).total === 1);
    expect((await list('?action=outbound_group.choice_gone')).items[0]).toMatchObject({
      actor: { type: 'system', name: 'system' },
      resource_name: 'PROXY',
      changes: [{ field: 'selected_name', before: 'gone', after: null }],
    });
  });

  it('a call whose client left before its answer', async () => {
    const before = await newest();
    await new Promise<void>((resolve) => {
      const socket = connect(gateway.app.port, '127.0.0.1', () => {
        // The body never arrives.
        socket.write(
          'POST /api/v1/rules HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
        );
        setImmediate(() => setTimeout(() => socket.destroy(), 100));
      });
      socket.on('close', () => resolve());
    });
    await waitFor(async () => (await newest()).id > before.id);
    expect(await newest()).toMatchObject({ action: 'rule.create', success: false });
  });

  it('in the same row for calls that come at once, and in an unbroken chain', async () => {
    const before = (await list()).total;
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        gateway.call('POST', '/rules', { type: 'DOMAIN', payload: `n${index}.example`, target: 'DIRECT' }),
      ),
    );
    expect((await list()).total).toBe(before + 40);
    expect(await verify()).toMatchObject({ ok: true, broken: null });
  });
});

describe('GET /audit-logs', () => {
  it('pages by cursor and by offset, newest first', async () => {
    const all = (await list('?limit=500')).items.map(({ id }) => id);
    expect(all).toEqual(all.toSorted((a, b) => b - a));
    const first = await list('?limit=3');
    expect(first).toMatchObject({ limit: 3, offset: 0, total: all.length, next_cursor: String(all[2]) });
    expect((await list(`?limit=2&cursor=${first.next_cursor}`)).items.map(({ id }) => id)).toEqual(all.slice(3, 5));
    expect((await list('?limit=2&offset=4')).items.map(({ id }) => id)).toEqual(all.slice(4, 6));
    expect((await list(`?offset=${all.length}`)).next_cursor).toBeNull();
  });

  it.each([
    ['action=auth.login', ({ action }: AuditLogView) => action === 'auth.login'],
    ['action=rule.*', ({ action }: AuditLogView) => action.startsWith('rule.')],
    ['resource_type=settings', ({ resource_type }: AuditLogView) => resource_type === 'settings'],
    ['actor=anonymous', ({ actor }: AuditLogView) => actor.type === 'anonymous'],
    ['actor=administrator', ({ actor }: AuditLogView) => actor.name === 'administrator'],
    ['success=false', ({ success }: AuditLogView) => !success],
    ['success=true', ({ success }: AuditLogView) => success],
  ])('filters by %s', async (query, fits) => {
    const all = (await list('?limit=500')).items;
    const found = await list(`?limit=500&${query}`);
    expect(found.items.map(({ id }) => id)).toEqual(all.filter(fits).map(({ id }) => id));
    expect(found.total).toBe(found.items.length);
    expect(found.total).toBeGreaterThan(0);
  });

  it('filters by time', async () => {
    const all = (await list('?limit=500')).items;
    const middle = all[Math.floor(all.length / 2)]!.created_at;
    const from = await list(`?limit=500&from=${middle}`);
    const to = await list(`?limit=500&to=${middle}`);
    expect(from.total + to.total).toBe(all.length);
    expect(to.items.every(({ created_at }) => created_at < middle)).toBe(true);
  });

  it.each(['to=9999-12-31T23:59:59.999999999-15:59', 'from=1000-01-01T00:00%2B15:59'])('takes %s', async (query) => {
    expect((await gateway.call('GET', `/audit-logs?${query}`)).status).toBe(200);
  });

  it.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'offset=-1',
    'cursor=abc',
    'from=yesterday',
    'from=2026-01-01',
    'from=2026-W01-1T00:00:00Z',
    'from=0009-03-31T07:48:13Z',
    'to=2026-01-01T00:00:00%2B16:00',
    'to=2026-01-01T00:00:00-23:58',
    'success=1',
    'action=DROP%20TABLE',
    'nosuch=1',
    'actor=%00',
  ])('refuses %s', async (query) => expect((await gateway.call('GET', `/audit-logs?${query}`)).status).toBe(400));

  it('is for administrators', async () => {
    const { body } = await gateway.call('POST', '/api-keys', { name: 'writer', scopes: ['write'] });
    for (const path of ['/audit-logs', '/audit-logs/verify']) {
      const refused = await gateway.call('GET', path, undefined, { authorization: `Bearer ${body.key}` });
      expect(refused.status).toBe(403);
    }
  });
});

describe('a database that does not accept rows', () => {
  it('does not affect the answer, and the row is written later', async () => {
    const before = await newest();
    await sql('ALTER TABLE audit_logs RENAME TO audit_logs_away');
    let created: { status: number; body: { id: number } };
    try {
      created = await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'later.example', target: 'DIRECT' });
      expect(created.status).toBe(201);
    } finally {
      await sql('ALTER TABLE audit_logs_away RENAME TO audit_logs');
    }
    await waitFor(async () => (await newest()).id > before.id);
    expect(await newest()).toMatchObject({ action: 'rule.create', resource_id: String(created.body.id) });
    expect(gateway.app.logs.some(({ level, context }) => level === 'error' && context === 'Audit')).toBe(true);
    expect(await verify()).toMatchObject({ ok: true });
  });
});

describe('the chain', () => {
  let database: ServiceDatabase;
  let store: AuditStore;
  beforeAll(async () => {
    database = await openServiceDatabase();
    store = new AuditStore(database.dataSource, new AuditChain(randomBytes(32)));
    await store.append(Array.from({ length: 10 }, (_, index) => ({ ...systemEntry(`test.row_${index}`) })));
  });
  afterAll(() => database.close());

  /** Changes the log, verifies it, and restores it. */
  async function tampered(...statements: string[]): ReturnType<AuditStore['verify']> {
    const keep = ['audit_logs', 'audit_chain'];
    for (const table of keep) await database.dataSource.query(`CREATE TABLE kept_${table} AS TABLE ${table}`);
    try {
      for (const statement of statements) await database.dataSource.query(statement);
      return await store.verify();
    } finally {
      for (const table of keep) {
        await database.dataSource.query(`DELETE FROM ${table}`);
        await database.dataSource.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
        await database.dataSource.query(`DROP TABLE kept_${table}`);
      }
    }
  }

  it('holds for an unchanged log', async () => {
    expect(await store.verify()).toMatchObject({ checked: 10, broken: null });
  });

  it.each([
    ['a changed text', `UPDATE audit_logs SET action = 'test.nothing' WHERE id = 4`, 4],
    ['a changed time', `UPDATE audit_logs SET created_at = created_at - interval '1 day' WHERE id = 4`, 4],
    ['a changed flag', 'UPDATE audit_logs SET success = false WHERE id = 7', 7],
    ['changed changes', `UPDATE audit_logs SET changes = '[{"field":"x","before":1,"after":2}]' WHERE id = 2`, 2],
    ['a filled field', `UPDATE audit_logs SET ip = '192.0.2.1' WHERE id = 10`, 10],
    ['a row in the middle removed', 'DELETE FROM audit_logs WHERE id = 5', 5],
    ['the first row removed', 'DELETE FROM audit_logs WHERE id = 1', 1],
    ['the last row removed', 'DELETE FROM audit_logs WHERE id = 10', 10],
    ['every row removed', 'DELETE FROM audit_logs', 1],
    ['a changed hash', `UPDATE audit_logs SET hash = repeat('0', 64) WHERE id = 3`, 3],
  ])('shows %s', async (_what, statement, id) => {
    expect((await tampered(statement)).broken).toMatchObject({ id });
  });

  it('detects two rows that changed places', async () => {
    const found = await tampered(
      'UPDATE audit_logs SET id = 100 WHERE id = 4',
      'UPDATE audit_logs SET id = 4 WHERE id = 5',
      'UPDATE audit_logs SET id = 5 WHERE id = 100',
    );
    expect(found.broken).toMatchObject({ id: 4 });
  });

  it('detects a removed row whose ids were renumbered', async () => {
    const found = await tampered(
      'DELETE FROM audit_logs WHERE id = 5',
      'UPDATE audit_logs SET id = id + 1000 WHERE id > 5',
      'UPDATE audit_logs SET id = id - 1001 WHERE id > 1000',
    );
    expect(found.broken).toMatchObject({ id: 5 });
  });

  it('detects an end cut off together with the head', async () => {
    const found = await tampered(
      'DELETE FROM audit_logs WHERE id > 8',
      `UPDATE audit_chain SET last_id = 8, last_hash = (SELECT hash FROM audit_logs WHERE id = 8)`,
    );
    expect(found.broken).toMatchObject({ reason: 'head_changed' });
  });

  it('detects a row appended without the key', async () => {
    const forger = new AuditStore(database.dataSource, new AuditChain(randomBytes(32)));
    const keep = await database.dataSource.query('SELECT * FROM audit_chain');
    await forger.append([systemEntry('test.forged')]);
    expect((await store.verify()).broken).toMatchObject({ id: 11, reason: 'row_changed' });
    await database.dataSource.query('DELETE FROM audit_logs WHERE id = 11');
    await database.dataSource.query('UPDATE audit_chain SET last_id = $1, last_hash = $2, seal = $3', [
      keep[0].last_id,
      keep[0].last_hash,
      keep[0].seal,
    ]);
  });

  it('is one chain for concurrent writers', async () => {
    const others = Array.from({ length: 5 }, () => store);
    await Promise.all(others.flatMap((each) => [each.append([systemEntry('a.b')]), each.append([systemEntry('c.d')])]));
    expect(await store.verify()).toMatchObject({ checked: 20, broken: null });
  });
});

describe('retention', () => {
  it('deletes old rows, keeps the rest verifiable, and records that', async () => {
    await using own = await startGateway();
    const log = own.app.app.get(AuditLog, { strict: false });
    const old = new Date(Date.now() - 400 * 86_400_000);
    for (let index = 0; index < 5; index++) await log.append({ ...systemEntry('test.old'), at: old });
    await own.app.app.get(DataSource).query('SELECT 1');
    await log.system({ action: 'test.fresh' });
    // The login of the test came first and is recent: only a beginning is ever removed.
    const retention = own.app.app.get(AuditRetention, { strict: false });
    expect(await retention.sweep(Date.now())).toBe(0);
    expect(await retention.sweep(Date.now() + 500 * 86_400_000)).toBeGreaterThan(5);
    const { body } = await own.call('GET', '/audit-logs');
    expect(body.items[0]).toMatchObject({ action: 'audit.prune', actor: { type: 'system' } });
    const verified = await own.call('GET', '/audit-logs/verify');
    expect(verified.body).toMatchObject({ ok: true, checked: body.total });
    expect(verified.body.first_id).toBeGreaterThan(6);
    await own.app.app.get(DataSource).query('DELETE FROM audit_logs WHERE id = $1', [verified.body.first_id]);
    expect((await own.call('GET', '/audit-logs/verify')).body).toMatchObject({
      ok: false,
      broken: { id: verified.body.first_id },
    });
  });
});

it('distinguishes a lockout from a failed login', async () => {
  await using own = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' });
  const from = { 'x-forwarded-for': '198.51.100.7' };
  for (let attempt = 0; attempt < 6; attempt++) await own.call('POST', '/auth/login', { password: 'guess' }, from);
  const { body } = await own.call<AuditLogPage>('GET', '/audit-logs?limit=6');
  expect(body.items.map(({ action, status, ip }) => [action, status, ip])).toEqual([
    ['auth.lockout', 429, '198.51.100.7'],
    ...Array.from({ length: 5 }, () => ['auth.login', 401, '198.51.100.7']),
  ]);
});
