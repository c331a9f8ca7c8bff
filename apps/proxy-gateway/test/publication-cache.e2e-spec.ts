import { parseSubscription } from '@gatehouse/subscription-formats';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PublicationWriter } from '../src/publications/publication-writer.js';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';

const LINKS = ['trojan://secret-one@one.example:443#Tokyo', 'trojan://secret-two@two.example:443#Paris'];
/** Columns of the tables with column lists in data/sql/publications.sql that no document is made from. */
const UNRELATED: Readonly<Record<string, string>> = {
  nodes:
    'id fingerprint type server port network tls udp sni cipher country_source exit_ip exit_country exit_asn exit_checked_at ' +
    'circuit_open_since first_seen_at last_seen_at created_at updated_at',
  outbound_groups: 'id last_switch upload_total download_total created_at updated_at',
  rules: 'id note hit_count hit_at created_at updated_at',
};

let gateway: Gateway;
let dataSource: DataSource;
let writes: ReturnType<typeof vi.spyOn>;
beforeAll(async () => {
  gateway = await startGateway({ API_RATE_LIMIT: '0' });
  dataSource = gateway.app.app.get(DataSource);
  const { body } = await gateway.call('POST', '/proxies/import', { text: LINKS.join('\n') });
  expect(body).toMatchObject({ created: 2 });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  writes = vi.spyOn(gateway.app.app.get(PublicationWriter), 'write');
});

async function publish(more: object = {}): Promise<AnyJson> {
  return (await gateway.call('POST', '/publications', { name: 'phones', ...more })).body;
}

const fetchAt = (path: string, headers: Record<string, string> = {}, target = 'clash'): Promise<Response> =>
  fetch(`${gateway.app.url}${path}?target=${target}`, { headers });
const textAt = async (path: string, target = 'clash'): Promise<string> => (await fetchAt(path, {}, target)).text();
const namesAt = async (path: string): Promise<string[]> =>
  parseSubscription(await textAt(path)).nodes.map(({ node }) => node.name);

/** Countries of new nodes are looked up in the background, after which documents are built again. */
async function untilKept(path: string): Promise<void> {
  await waitFor(async () => {
    writes.mockClear();
    await textAt(path);
    return writes.mock.calls.length === 0;
  });
}

describe('a document of a publication', () => {
  it('is built once for all clients and for answers without it, until something changes', async () => {
    const { path } = await publish();
    await untilKept(path);
    const first = await fetchAt(path);
    await first.text();
    const etag = first.headers.get('etag')!;
    await Promise.all([textAt(path), textAt(path)]);
    expect((await fetchAt(path, { 'if-none-match': etag })).status).toBe(304);
    // Counting fetches and noting the last use is no change.
    expect(writes).not.toHaveBeenCalled();
    await Promise.all([textAt(path, 'sing-box'), textAt(path, 'sing-box')]);
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it('is shared by publications that are alike, while each has its own name', async () => {
    const [one, other] = [await publish({ name: 'one' }), await publish({ name: 'other' })];
    await textAt(one.path);
    const answer = await fetchAt(other.path);
    expect(answer.headers.get('content-disposition')).toContain('other.yaml');
    expect(writes.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['a node', `UPDATE nodes SET custom_name = 'Osaka' WHERE original_name = 'Tokyo'`, 'Osaka'],
    ['a country', `UPDATE nodes SET country = 'NZ' WHERE original_name = 'Paris'`, 'New Zealand'],
    ['a group', `UPDATE outbound_groups SET strategy = 'round-robin' WHERE name = 'BALANCE'`, 'round-robin'],
    [
      'a rule',
      `INSERT INTO rules (source, type, payload, target, priority) VALUES ('manual', 'DOMAIN', 'new.example', 'PROXY', 1)`,
      'DOMAIN,new.example',
    ],
    ['the rest', `UPDATE outbound_policy SET default_policy = 'DIRECT'`, 'MATCH,DIRECT'],
  ])('is built again after another replica has changed %s', async (_what, sql, expected) => {
    const template = expected === 'New Zealand' ? 'countries' : 'rules';
    const { path } = await publish({ template });
    expect(await textAt(path)).not.toContain(expected);
    await dataSource.query(sql);
    expect(await textAt(path)).toContain(expected);
  });

  it('is built again after its definition, its template or the nodes have changed', async () => {
    const text = 'proxy-groups:\n  - {name: Mine, type: select, include-all: true}\nrules:\n  - MATCH,Mine\n';
    const template = (await gateway.call('POST', '/publication-templates', { name: 'own', target: 'clash', text }))
      .body;
    const { id, path } = await publish({ template_ids: [template.id] });
    expect(await textAt(path)).toContain('MATCH,Mine');
    await gateway.call('PUT', `/publication-templates/${template.id}`, { text: text.replaceAll('Mine', 'Ours') });
    expect(await textAt(path)).toContain('MATCH,Ours');
    await gateway.call('PUT', `/publications/${id}`, { template_ids: [] });
    expect(await textAt(path)).toContain('MATCH,PROXY');
    const { body: node } = await gateway.call('POST', '/proxies', { raw_config: 'trojan://p@three.example:443#Third' });
    expect(await namesAt(path)).toContain('Third');
    await gateway.call('DELETE', `/proxies/${node.id}`);
    expect(await namesAt(path)).not.toContain('Third');
  });

  it('looks at results of tests where its steps ask for them', async () => {
    const plain = await publish({ steps: [{ do: 'limit', count: 1_000 }] });
    const alive = await publish({ steps: [{ do: 'keep', health: 'alive' }] });
    expect([(await namesAt(plain.path)).length, await namesAt(alive.path)]).toEqual([2, []]);
    await dataSource.query(
      `INSERT INTO node_health (node_id, test_url, alive, delay_ms, last_tested_at)
       SELECT id, '', true, 10, now() FROM nodes WHERE original_name = 'Paris'`,
    );
    writes.mockClear();
    expect([(await namesAt(plain.path)).length, await namesAt(alive.path)]).toEqual([2, ['Paris']]);
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it('answers nobody whose token is no good, whatever is kept', async () => {
    const { id, path } = await publish();
    await textAt(path);
    await gateway.call('PUT', `/publications/${id}`, { enabled: false });
    expect((await fetchAt(path)).status).toBe(404);
  });
});

describe('the marks of changes', () => {
  const marks = async (): Promise<string> => {
    const [row] = await dataSource.query(`SELECT string_agg(id::text, ',' ORDER BY id) AS ids FROM publication_marks`);
    return row.ids;
  };
  const change = `UPDATE nodes SET custom_name = 'Osaka' WHERE original_name = 'Tokyo'`;

  it('change with each commit, also of transactions that overlap, and stay few', async () => {
    const slow = dataSource.createQueryRunner();
    await slow.startTransaction();
    await slow.query(change);
    const seen = [await marks()];
    for (let round = 0; round < 400; round++) {
      // Another table: the row is locked.
      await dataSource.query('UPDATE outbound_policy SET default_policy = default_policy');
      seen.push(await marks());
    }
    await slow.commitTransaction();
    await slow.release();
    seen.push(await marks());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.at(-1)!.split(',').length).toBeLessThan(300);
  });

  it('are also those of programs without a search path', async () => {
    const before = await marks();
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('SET LOCAL search_path = pg_catalog');
      // Often enough that older marks are taken away, too.
      for (let round = 0; round < 200; round++) {
        await runner.query('UPDATE proxy_gateway.nodes SET config = config');
      }
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
    expect(await marks()).not.toBe(before);
  });

  it('do not change with a rollback, nor with what no document is made from', async () => {
    const before = await marks();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(change);
    await runner.rollbackTransaction();
    await runner.release();
    await dataSource.query('UPDATE nodes SET exit_ip = NULL');
    await dataSource.query('UPDATE outbound_groups SET upload_total = upload_total + 1');
    await dataSource.query('UPDATE rules SET hit_count = hit_count + 1');
    expect(await marks()).toBe(before);
  });

  it.each(Object.keys(UNRELATED))('name every column of %s that documents are made from', async (table) => {
    const columnsOf = async (sql: string): Promise<string[]> => {
      const rows: { name: string }[] = await dataSource.query(sql, [table]);
      return rows.map(({ name }) => name);
    };
    const all = await columnsOf(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1`,
    );
    const marked = await columnsOf(
      `SELECT attribute.attname AS name FROM pg_trigger trigger, unnest(trigger.tgattr) AS number
       JOIN pg_attribute attribute ON attribute.attnum = number
       WHERE trigger.tgname = $1 || '_publication' AND attribute.attrelid = trigger.tgrelid`,
    );
    // A new column needs a word here, or a place in data/sql/publications.sql.
    expect([...marked, ...UNRELATED[table]!.split(' ').filter((name) => all.includes(name))].toSorted()).toEqual(
      all.toSorted(),
    );
  });
});
