import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KernelConfigSource } from '../src/kernel-config/kernel-config.source.js';
import { startTestApi } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.dataSource.query(`INSERT INTO subscriptions (name, sealed_url, type, interval_sec, enabled)
    VALUES ('first', 'x', 'auto', 3600, true), ('second', 'x', 'auto', 3600, true)`);
  // One profile drives the rules.
  await api.dataSource.query('UPDATE outbound_policy SET active_profile = 1');
});
afterAll(() => api.close());
beforeEach(() => api.dataSource.query('TRUNCATE rules RESTART IDENTITY'));

const merged = async (query = '') => (await api.call('GET', `/rules/merged${query}`)).body;
const insert = (
  source: string,
  subscription: number | null,
  priority: number,
  type: string,
  payload: string,
  target = 'DIRECT',
) =>
  api.dataSource.query(
    'INSERT INTO rules (source, subscription_id, priority, type, payload, target) VALUES ($1, $2, $3, $4, $5, $6)',
    [source, subscription, priority, type, payload, target],
  );
const line = (item: { index: number; effective: boolean; shadowed_by: number | null; payload: string }) => [
  item.index,
  item.payload,
  item.effective,
  item.shadowed_by,
];

describe('merged rules', () => {
  it('come in the order of their sources, as the kernel gets them', async () => {
    await insert('subscription', 2, 1, 'DOMAIN', 'second.example');
    await insert('subscription', 1, 9, 'DOMAIN', 'first-b.example');
    await insert('subscription', 1, 2, 'DOMAIN', 'first-a.example');
    await insert('ruleset', null, 1, 'DOMAIN', 'set.example');
    await insert('manual', null, 500, 'DOMAIN', 'manual-b.example');
    await insert('manual', null, 400, 'DOMAIN', 'manual-a.example');
    await insert('system', null, 900, 'DOMAIN', 'system.example');
    await api.dataSource.query(`INSERT INTO rules (priority, type, payload, target, enabled)
      VALUES (450, 'DOMAIN', 'off.example', 'DIRECT', false)`);
    const answer = await merged();
    expect(answer).toMatchObject({ total: 6, limit: 50, offset: 0, default_policy: 'PROXY' });
    expect(answer.generated_at).toMatch(/Z$/);
    expect(answer.items.map(line)).toEqual(
      ['system', 'manual-a', 'manual-b', 'set', 'first-a', 'first-b'].map((name, index) => [
        index,
        `${name}.example`,
        true,
        null,
      ]),
    );
    const { rules } = await api.app.app.get(KernelConfigSource, { strict: false }).load();
    expect(rules.map((rule) => rule.id)).toEqual(answer.items.map(({ id }: { id: number }) => id));
    const { body } = await api.call('GET', '/rules?source=manual');
    expect(body.items.map(({ payload, index }: { payload: string; index: number }) => [payload, index])).toEqual([
      ['manual-a.example', 1],
      ['off.example', null],
      ['manual-b.example', 2],
    ]);
  });

  it('show which rules never match, and why', async () => {
    await insert('manual', null, 1, 'DOMAIN-SUFFIX', 'gone.example', 'n77');
    await insert('manual', null, 2, 'DOMAIN', 'a.gone.example');
    await insert('manual', null, 3, 'DOMAIN-SUFFIX', 'Example.com');
    await insert('manual', null, 4, 'DOMAIN', 'www.example.com', 'PROXY');
    await insert('manual', null, 5, 'RULE-SET', 'nowhere');
    await insert('manual', null, 6, 'DOMAIN-SUFFIX', 'pass.example', 'PASS');
    await insert('manual', null, 7, 'DOMAIN', 'x.pass.example');
    await insert('manual', null, 8, 'MATCH', '');
    await insert('subscription', 1, 1, 'IP-CIDR', '10.0.0.0/8');
    const { items } = await merged();
    expect(items.map(line)).toEqual([
      [0, 'gone.example', false, null],
      [1, 'a.gone.example', true, null],
      [2, 'Example.com', true, null],
      [3, 'www.example.com', false, 2],
      [4, 'nowhere', false, null],
      [5, 'pass.example', true, null],
      [6, 'x.pass.example', true, null],
      [7, '', true, null],
      [8, '10.0.0.0/8', false, 7],
    ]);
    expect(items[0]).toMatchObject({ valid: false, error: 'target n77 does not exist' });
    expect(items[4]).toMatchObject({ valid: false, error: 'rule set nowhere does not exist', size: -1 });
  });

  it('have a new version after any change, and the same one otherwise', async () => {
    await insert('manual', null, 1, 'DOMAIN', 'a.example', 'My group');
    const first = await merged();
    expect((await merged()).version).toBe(first.version);
    await api.dataSource.query('UPDATE rules SET hit_count = hit_count + 1, hit_at = now()');
    const again = await merged();
    expect([again.version, again.items[0].hit_count]).toEqual([first.version, 1]);
    await api.dataSource.query(`INSERT INTO outbound_groups (name, type, members, position)
      VALUES ('My group', 'select', '["DIRECT"]', 99)`);
    const valid = await merged();
    expect([first.items[0].effective, valid.items[0].effective]).toEqual([false, true]);
    expect(valid.version).not.toBe(first.version);
    await api.call('PUT', '/rules/1', { enabled: false });
    expect(await merged()).toMatchObject({ total: 0, items: [] });
  });

  it('come in pages', async () => {
    for (let index = 0; index < 5; index++) await insert('manual', null, index, 'DOMAIN', `d${index}.example`);
    expect((await merged('?limit=2&offset=3')).items.map(line)).toEqual([
      [3, 'd3.example', true, null],
      [4, 'd4.example', true, null],
    ]);
    expect(await merged('?limit=2&offset=9')).toMatchObject({ items: [], total: 5, limit: 2, offset: 9 });
    for (const query of ['?limit=501', '?limit=0', '?offset=-1', '?limit=x', '?colour=red']) {
      expect((await api.call('GET', `/rules/merged${query}`)).status, query).toBe(400);
    }
  });

  it('are found by text, type, target and source, and keep their places', async () => {
    await insert('system', null, 1, 'DOMAIN', 'system.example');
    for (let index = 0; index < 5; index++) await insert('manual', null, index, 'DOMAIN', `d${index}.example`);
    await insert('manual', null, 9, 'DOMAIN-SUFFIX', 'd3.example', 'PROXY');
    await insert('subscription', 1, 1, 'IP-CIDR', '10.0.0.0/8');
    const places = async (query: string): Promise<number[]> =>
      (await merged(`?${query}`)).items.map(({ index }: { index: number }) => index);
    expect(await places('search=D3.')).toEqual([4, 6]);
    expect(await places('search=d3.&type=domain')).toEqual([4]);
    expect(await places('target=PROXY')).toEqual([6]);
    expect(await places('source=subscription')).toEqual([7]);
    expect(await merged('?source=manual&limit=2&offset=4')).toMatchObject({
      items: [{ index: 5 }, { index: 6 }],
      total: 6,
    });
    expect((await api.call('GET', '/rules/merged?search=')).status).toBe(400);
  });

  it('are quick to page through at a hundred thousand', async () => {
    await api.dataSource.query(`INSERT INTO rules (type, payload, target, priority)
      SELECT 'DOMAIN-SUFFIX', 'd' || n || '.example', 'PROXY', n FROM generate_series(1, 100000) n`);
    await merged();
    const began = performance.now();
    for (let offset = 0; offset < 100_000; offset += 20_000) {
      expect((await merged(`?limit=500&offset=${offset}`)).items).toHaveLength(500);
    }
    expect((performance.now() - began) / 5).toBeLessThan(250);
  });
});
