import type { NodeView, OutboundOverview, Page } from '@gatehouse/contracts';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';
import { shadowsocksLink } from './support/provider.js';

let gateway: Gateway;
let database: DataSource;
beforeAll(async () => {
  gateway = await startGateway();
  database = gateway.app.app.get(DataSource);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** 2^63 - 1, which JSON can write and JavaScript cannot read. */
const LARGEST = '9223372036854775807';
const MAX_COUNT = 9_007_199_254_740_991;

it('shows counters that are too large for a number as the largest one, in each list that is read as JSON', async () => {
  const { body: node } = await gateway.call<NodeView>('POST', '/proxies', { raw_config: shadowsocksLink('large') });
  await database.query(
    `INSERT INTO traffic_totals (outbound, node_id, requests, errors, upload, download, last_seen_at)
     VALUES ('n' || $1::bigint, $1::bigint, 1, 0, ${LARGEST}, 5, now())`,
    [node.id],
  );
  await database.query('UPDATE nodes SET exit_asn = 4294967295 WHERE id = $1', [node.id]);
  await database.query(`UPDATE outbound_groups SET upload_total = ${LARGEST}, download_total = 7 WHERE name = 'PROXY'`);
  const shown = { id: node.id, exit_asn: 4_294_967_295, upload_total: MAX_COUNT, download_total: 5 };
  const { body: page } = await gateway.call<Page<NodeView>>('GET', '/proxies');
  expect(page).toMatchObject({ total: 1, items: [shown] });
  const { body: changed } = await gateway.call<NodeView>('PUT', `/proxies/${node.id}`, { tags: ['a'] });
  expect(changed).toMatchObject(shown);
  const { body: overview } = await gateway.call<OutboundOverview>('GET', '/outbound?members=false');
  const group = overview.groups.find(({ name }) => name === 'PROXY');
  expect(group).toMatchObject({ upload_total: MAX_COUNT, download_total: 7 });
});
