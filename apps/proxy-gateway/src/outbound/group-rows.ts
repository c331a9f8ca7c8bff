import { pgPool } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';
import { limitedCount } from '../data/limited-count.js';
import { GENERAL_URL } from '../data/node-health.entity.js';
import type { OutboundGroupEntity } from '../data/outbound-group.entity.js';

/** A group as it is stored, with the fields that are shown. */
export type GroupRow = Pick<OutboundGroupEntity, (typeof FIELDS)[number]['field']>;

/** The facts about a node inside a group. */
export interface NodeCardRow {
  id: number;
  name: string;
  type: string;
  country: string | null;
  udp: boolean;
  /** The first subscription that contains it. */
  subscription_name: string | null;
}

interface HealthRow {
  node_id: number;
  test_url: string;
  alive: boolean;
  delay_ms: number | null;
}

export interface StoredFacts {
  groups: GroupRow[];
  nodes: NodeCardRow[];
  /** The last measurements of those nodes, with the general address and with those of groups. */
  health: HealthRow[];
}

const FIELDS = [
  { field: 'name', column: 'name' },
  { field: 'type', column: 'type' },
  { field: 'members', column: 'members' },
  { field: 'filter', column: 'filter' },
  { field: 'exclude', column: 'exclude' },
  { field: 'includeCountries', column: 'include_countries' },
  { field: 'country', column: 'country' },
  { field: 'automatic', column: 'automatic' },
  { field: 'subscriptionId', column: 'subscription_id' },
  { field: 'profileName', column: 'profile_name' },
  { field: 'testUrl', column: 'test_url' },
  { field: 'expectedStatus', column: 'expected_status' },
  { field: 'intervalSec', column: 'interval_sec' },
  { field: 'lazy', column: 'lazy' },
  { field: 'strategy', column: 'strategy' },
  { field: 'hidden', column: 'hidden' },
  { field: 'icon', column: 'icon' },
  { field: 'emptyFallback', column: 'empty_fallback' },
  { field: 'lastSwitch', column: 'last_switch' },
  { field: 'uploadTotal', column: limitedCount('upload_total') },
  { field: 'downloadTotal', column: limitedCount('download_total') },
] as const satisfies { field: keyof OutboundGroupEntity; column: string }[];

/**
 * In one statement, since each costs the service about a tenth of a millisecond, and as JSON, since the driver makes each
 * value of each row on its own.
 */
const SELECT_FACTS = `
  SELECT
    (SELECT coalesce(json_agg(json_build_object(${FIELDS.map(({ field, column }) => `'${field}', ${column}`).join(', ')})), '[]')
      FROM outbound_groups) AS groups,
    (SELECT coalesce(json_agg(json_build_object('id', node.id, 'name', coalesce(node.custom_name, node.original_name),
        'type', node.type, 'country', node.country, 'udp', node.udp, 'subscription_name',
        (SELECT subscription.name FROM node_sources source JOIN subscriptions subscription
          ON subscription.id = source.subscription_id
          WHERE source.node_id = node.id ORDER BY source.subscription_id LIMIT 1))), '[]')
      FROM nodes node WHERE node.id = ANY ($1::bigint[])) AS nodes,
    (SELECT coalesce(json_agg(json_build_object('node_id', node_id, 'test_url', test_url, 'alive', alive,
        'delay_ms', delay_ms)), '[]')
      FROM node_health WHERE node_id = ANY ($1::bigint[])
        AND (test_url = '${GENERAL_URL}' OR test_url IN (SELECT test_url FROM outbound_groups))) AS health`;

/** All groups, and what is known about these nodes. */
export async function readGroupRows(dataSource: DataSource, nodeIds: readonly number[]): Promise<StoredFacts> {
  const { rows } = await pgPool(dataSource).query<StoredFacts>({
    name: 'groups and nodes in them',
    text: SELECT_FACTS,
    values: [nodeIds],
  });
  const [facts] = rows;
  if (!facts) throw new TypeError('a statement without FROM has one row');
  return facts;
}
