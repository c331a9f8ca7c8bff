import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';

let gateway: Gateway;
let writer: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  const { key } = (await gateway.call('POST', '/api-keys', { name: 'w', scopes: ['read', 'write'] })).body;
  writer = { authorization: `Bearer ${key}` };
});
afterAll(() => gateway[Symbol.asyncDispose]());

const URL_A = 'http://127.0.0.1:9/a';
const KINDS: [string, object][] = [
  ['/subscriptions', { name: 'private', enabled: false }],
  ['/rule-sets', { name: 'private', type: 'http', behavior: 'domain', format: 'text', enabled: false }],
];

describe.each(KINDS)('private addresses of %s', (path, body) => {
  const asWriter = (method: string, at: string, more: object): Promise<Answer> =>
    gateway.call(method, at, more, writer);
  const refused = { status: 403, body: { code: 'FORBIDDEN', details: [{ field: 'allow_private' }] } };

  it('can only be allowed and changed by administrators', async () => {
    expect(await asWriter('POST', path, { ...body, url: URL_A, allow_private: true })).toMatchObject(refused);
    expect((await gateway.call('GET', path)).body.total).toBe(0);

    const own = await asWriter('POST', path, { ...body, url: URL_A, allow_private: false });
    expect(own.status).toBe(201);
    const at = `${path}/${own.body.id}`;
    expect(await asWriter('PUT', at, { allow_private: true })).toMatchObject(refused);
    expect((await gateway.call('PUT', at, { allow_private: true })).body.allow_private).toBe(true);

    expect(await asWriter('PUT', at, { url: 'http://127.0.0.1:9/b' })).toMatchObject(refused);
    expect((await gateway.call('GET', at)).body).toMatchObject({ url: URL_A, allow_private: true });
    const renamed = await asWriter('PUT', at, { name: 'renamed', url: URL_A, allow_private: true });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'renamed']);
    const given = await asWriter('PUT', at, { url: 'http://127.0.0.1:9/b', allow_private: false });
    expect([given.status, given.body.allow_private]).toEqual([200, false]);
  });
});

it.each([
  ['/subscriptions', 'subscriptions'],
  ['/rule-sets', 'rule_sets'],
])('a refresh in %s whose database connection ends can be repeated', async (path, table) => {
  const [, kind] = KINDS.find(([at]) => at === path)!;
  const made = await gateway.call('POST', path, { ...kind, name: 'cut', url: URL_A, allow_private: true });
  const database = gateway.app.app.get(DataSource, { strict: false });
  await database.query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`);
  await database.query(`CREATE TRIGGER cut BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION cut()`);
  const refresh = () => gateway.call('POST', `${path}/${made.body.id}/refresh`);
  const cut = await refresh();
  await database.query('DROP FUNCTION cut CASCADE');
  expect(cut).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  expect(Number(cut.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refresh()).toMatchObject({ status: 200, body: { status: expect.any(String) } });
});
