import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { readConfigRows } from '../src/edge/config-changes.js';
import { readAllRows, type ConfigRows } from '../src/common/config-rows.js';
import { EdgeDatabase } from '../src/common/edge-database.js';

let database: TestDatabase;
let db: EdgeDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await SERVICE.migrate({ databaseUrl: database.url });
  db = new EdgeDatabase(database.url);
  await sql(
    `INSERT INTO tunnel_gateway.users (username, password_hash) SELECT 'u' || n, 'x' FROM generate_series(1, 3) n`,
  );
  await sql(
    `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id)
     SELECT 'c' || n, n, 1 + n % 3 FROM generate_series(1, 30) n`,
  );
  await sql(
    `INSERT INTO tunnel_gateway.tunnels (client_id, mode, listen_port, target_addr)
     SELECT 1 + n % 30, 'tcp', n, 'x' FROM generate_series(1, 90) n`,
  );
  await sql(
    `INSERT INTO tunnel_gateway.hosts (client_id, host, target_addr)
     SELECT 1 + n % 30, 'h' || n, 'x' FROM generate_series(1, 60) n`,
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const sql = (text: string): Promise<unknown> => db.query(text);
const now = (): Promise<ConfigRows> => db.snapshot(readAllRows);
const next = (before: ConfigRows): Promise<ConfigRows> => db.snapshot((queries) => readConfigRows(queries, before));

let seed = 7;
const below = (n: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const flag = (): number => below(2);

/** One change of each kind; ids that no longer exist change nothing. */
const CHANGES: (() => string)[] = [
  () => `UPDATE tunnel_gateway.users SET status = ${flag()} WHERE id = ${1 + below(3)}`,
  () => `UPDATE tunnel_gateway.clients SET rate_limit = ${below(100)} WHERE id = ${1 + below(30)}`,
  () => `UPDATE tunnel_gateway.clients SET owner_user_id = ${1 + below(3)} WHERE id = ${1 + below(30)}`,
  () => `UPDATE tunnel_gateway.clients SET inlet_flow = inlet_flow + 1`,
  () => `DELETE FROM tunnel_gateway.clients WHERE id = ${1 + below(300)}`,
  () =>
    `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id) VALUES ('n', gen_random_uuid(), ${1 + below(3)})`,
  () =>
    `INSERT INTO tunnel_gateway_ops.client_options (client_id, encrypt)
     SELECT id, ${flag() === 1} FROM tunnel_gateway.clients WHERE id = ${1 + below(30)}
     ON CONFLICT (client_id) DO UPDATE SET encrypt = EXCLUDED.encrypt`,
  () => `UPDATE tunnel_gateway.tunnels SET status = ${flag()} WHERE id = ${1 + below(90)}`,
  () => `UPDATE tunnel_gateway.tunnels SET target_addr = 't${below(9)}' WHERE client_id = ${1 + below(30)}`,
  () => `UPDATE tunnel_gateway.tunnels SET run_status = ${below(3)}`,
  () => `DELETE FROM tunnel_gateway.tunnels WHERE id = ${1 + below(300)}`,
  () =>
    `INSERT INTO tunnel_gateway_ops.tunnel_options (tunnel_id, proxy_protocol)
     SELECT id, ${flag()} FROM tunnel_gateway.tunnels WHERE id = ${1 + below(90)}
     ON CONFLICT (tunnel_id) DO UPDATE SET proxy_protocol = EXCLUDED.proxy_protocol`,
  () => `UPDATE tunnel_gateway.hosts SET status = ${flag()}, scheme = 'http' WHERE id = ${1 + below(60)}`,
  () =>
    `INSERT INTO tunnel_gateway_ops.host_options (host_id, rewrite_host)
     SELECT id, 'r${below(9)}' FROM tunnel_gateway.hosts WHERE id = ${1 + below(60)}
     ON CONFLICT (host_id) DO UPDATE SET rewrite_host = EXCLUDED.rewrite_host`,
  () =>
    `INSERT INTO tunnel_gateway_ops.certificates (host_id, source, chain, sealed_key, not_before, not_after)
     SELECT id, 'upload', 'c${below(9)}', 'k', now(), now() FROM tunnel_gateway.hosts WHERE id = ${1 + below(60)}
     ON CONFLICT (host_id) DO UPDATE SET chain = EXCLUDED.chain`,
  () => `DELETE FROM tunnel_gateway_ops.certificates WHERE host_id = ${1 + below(60)}`,
  () =>
    `INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern)
     VALUES ('${['global', 'console', 'client', 'tunnel'][below(4)]}', ${1 + below(30)}, 'deny', '192.0.2.${below(255)}')`,
  () => `UPDATE tunnel_gateway.ip_rules SET priority = ${below(9)}, scope = 'console' WHERE id = ${1 + below(60)}`,
  () => `UPDATE tunnel_gateway.ip_rules SET remark = 'r' WHERE id = ${1 + below(60)}`,
  () => `DELETE FROM tunnel_gateway.ip_rules WHERE id = ${1 + below(60)}`,
  () =>
    `INSERT INTO tunnel_gateway_ops.address_lists (name, url, interval_minutes) VALUES (gen_random_uuid(), 'u', 60)`,
  () => `UPDATE tunnel_gateway_ops.address_lists SET content = 'c${below(9)}' WHERE id = ${1 + below(20)}`,
  () => `UPDATE tunnel_gateway_ops.address_lists SET checked_at = now(), last_error = 'e' WHERE id = ${1 + below(20)}`,
  () => `DELETE FROM tunnel_gateway_ops.address_lists WHERE id = ${1 + below(20)}`,
  () =>
    `INSERT INTO tunnel_gateway.auth_policies (resource_type, resource_id, type, enabled)
     VALUES ('host', ${1 + below(60)}, 'password', ${flag()})`,
  () =>
    `UPDATE tunnel_gateway.auth_policies SET ttl_seconds = ${below(99)}, enabled = ${flag()} WHERE id = ${1 + below(20)}`,
  () => `UPDATE tunnel_gateway.auth_policies SET updated_at = clock_timestamp() WHERE id = ${1 + below(20)}`,
  () =>
    `INSERT INTO tunnel_gateway_ops.policy_options (policy_id, allow_private)
     SELECT id, ${flag() === 1} FROM tunnel_gateway.auth_policies WHERE id = ${1 + below(20)}
     ON CONFLICT (policy_id) DO UPDATE SET allow_private = EXCLUDED.allow_private`,
  () => 'UPDATE tunnel_gateway_ops.config_revision SET revision = revision + 1',
];

describe('a partial reload of the configuration', () => {
  it('gives the same result as a full one', async () => {
    let known = await now();
    for (let round = 0; round < 150; round += 1) {
      for (let changes = below(4); changes >= 0; changes -= 1) {
        const some = Array.from({ length: 1 + below(3) }, () => CHANGES[below(CHANGES.length)]?.() ?? '');
        await sql(`BEGIN; ${some.join('; ')}; ${below(5) === 0 ? 'ROLLBACK' : 'COMMIT'}`);
      }
      known = await next(known);
      expect(known).toEqual(await now());
    }
  });

  it('leaves everything else unchanged', async () => {
    const before = await now();
    await sql(`INSERT INTO tunnel_gateway.ip_rules (scope, type, pattern) VALUES ('global', 'deny', '192.0.2.7')`);
    const after = await next(before);
    expect(after.revision).toBe(before.revision + 1);
    expect(after.ipRules).toHaveLength(before.ipRules.length + 1);
    expect(after.tunnels).toBe(before.tunnels);
    expect(after.hosts).toBe(before.hosts);
    expect(after.ipRules[0]).toBe(before.ipRules[0]);
    expect(await next(after)).toBe(after);
  });

  it('does not read lists of addresses again because of others, or of a fetch that changed nothing', async () => {
    const add = (name: string): Promise<unknown> =>
      sql(
        `INSERT INTO tunnel_gateway_ops.address_lists (name, url, interval_minutes, content) VALUES ('${name}', 'u', 60, 'a')`,
      );
    await add('first');
    await add('second');
    const before = await now();
    await sql(`UPDATE tunnel_gateway_ops.address_lists SET checked_at = now(), entries = 7 WHERE name = 'first'`);
    expect(await next(before)).toEqual(before);
    await sql(`UPDATE tunnel_gateway_ops.address_lists SET content = 'b' WHERE name = 'second'`);
    const after = await next(before);
    const of = (rows: ConfigRows, wanted: string) => rows.addressLists?.find(({ name }) => name === wanted);
    expect(of(after, 'first')).toBe(of(before, 'first'));
    expect(of(after, 'second')).toMatchObject({ content: 'b' });
    await sql(`INSERT INTO tunnel_gateway.ip_rules (scope, type, pattern) VALUES ('global', 'deny', '192.0.2.8')`);
    expect((await next(after)).addressLists).toBe(after.addressLists);
  });

  it('becomes a full one if changes are too many, too old, forgotten or of another history', async () => {
    const before = await now();
    await sql(
      `INSERT INTO tunnel_gateway.ip_rules (scope, type, pattern) SELECT 'global', 'allow', '192.0.2.1' FROM generate_series(1, 700)`,
    );
    const { rows } = await db.query('SELECT 1 FROM tunnel_gateway_ops.config_changes WHERE revision = $1', [
      before.revision + 1,
    ]);
    expect(rows).toHaveLength(501);
    const after = await next(before);
    expect(after.ipRules).toHaveLength(before.ipRules.length + 700);
    await sql(
      `UPDATE tunnel_gateway.ip_rules SET priority = 3 WHERE id = (SELECT max(id) FROM tunnel_gateway.ip_rules)`,
    );
    await sql('DELETE FROM tunnel_gateway_ops.config_changes');
    expect(await next(after)).toEqual(await now());
    expect(await next({ ...after, revision: after.revision + 100 })).toEqual(await now());
    expect(await next({ ...after, revision: 0, ipRules: [] })).toEqual(await now());
  });

  it('is possible for the last 1,000 changes', async () => {
    await sql(
      `DO $$ BEGIN FOR n IN 1..1200 LOOP
         UPDATE tunnel_gateway.users SET status = n % 2 WHERE id = 1; COMMIT;
       END LOOP; END $$`,
    );
    const { rows } = await db.query<{ kept: number }>(
      'SELECT count(*)::int AS kept FROM tunnel_gateway_ops.config_changes',
    );
    expect(rows[0]?.kept).toBe(1_000);
  });
});
