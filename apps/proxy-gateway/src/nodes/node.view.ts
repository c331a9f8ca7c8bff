import type { NodeSourceView, NodeView } from '@gatehouse/contracts';
import type { DelayRecord } from '../data/node-health.entity.js';
import { countryName, flagOf } from '../data/country-names.js';
import type { NodeEntity } from '../data/node.entity.js';
import type { OpenedNode } from './opened-nodes.js';

export interface NodeSourceRow extends NodeSourceView {
  subscription_name: string;
  /** With its offset from UTC, like all times that come as JSON. */
  last_success_at: string | null;
}

/** General measurements; all null for a node that was never tested. */
interface HealthColumns {
  alive: boolean | null;
  delay_ms: number | null;
  delay_history: DelayRecord[] | null;
  last_tested_at: string | null;
  error_code: string | null;
  error_message: string | null;
  failure_count: number | null;
  tests: number | null;
  successes: number | null;
}

/** A node with its measurements and traffic, as lists read it. */
export type NodeRow = Omit<
  NodeEntity,
  'exitCountry' | 'exitCheckedAt' | 'circuitOpenSince' | 'createdAt' | 'updatedAt'
> &
  HealthColumns & {
    circuitOpenSince: string | null;
    createdAt: string;
    updatedAt: string;
    upload: number;
    download: number;
    /** In the order of their subscriptions; null for none. */
    sources: readonly NodeSourceRow[] | null;
  };

export interface NodeViewFacts {
  opened: OpenedNode;
  activeConnections: number | null;
  /** False masks credentials. */
  showSecrets: boolean;
}

export function toNodeView(row: NodeRow, facts: NodeViewFacts): NodeView {
  const { opened, activeConnections, showSecrets } = facts;
  const sources = row.sources ?? [];
  const { support, reason } = opened.support;
  const [first] = sources;
  const createdAt = utc(row.createdAt);
  return {
    id: row.id,
    name: nodeName(row),
    original_name: row.originalName,
    type: row.type,
    source: row.source,
    subscription_id: first?.subscription_id ?? null,
    subscription_name: first?.subscription_name ?? null,
    sources: sources.map(({ subscription_id, name }) => ({ subscription_id, name })),
    server: row.server,
    port: row.port,
    network: row.network,
    tls: row.tls,
    udp: row.udp,
    sni: row.sni,
    cipher: row.cipher,
    raw_config: showSecrets ? opened.rawConfig : opened.maskedConfig,
    share_link: showSecrets ? opened.shareLink : null,
    fingerprint: row.fingerprint,
    enabled: row.enabled,
    kernel_support: support,
    unsupported_reason: reason,
    ...countryOf(row),
    tags: row.tags,
    exit_ip: row.exitIp,
    exit_asn: row.exitAsn,
    ...healthOf(row),
    circuit_open_since: row.circuitOpenSince && utc(row.circuitOpenSince),
    active_connections: activeConnections,
    upload_total: row.upload,
    download_total: row.download,
    created_at: createdAt,
    updated_at: utc(row.updatedAt),
    first_seen_at: createdAt,
    last_seen_at: lastSeen(sources),
  };
}

function healthOf(row: HealthColumns) {
  const { tests, successes } = row;
  return {
    alive: row.alive,
    delay_ms: row.delay_ms,
    delay_history: row.delay_history ?? [],
    last_tested_at: row.last_tested_at && utc(row.last_tested_at),
    last_error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    failure_count: row.failure_count ?? 0,
    success_rate: tests === null || tests === 0 ? null : Math.round(((successes ?? 0) / tests) * 1_000) / 1_000,
  };
}

/** The name that a user gave, otherwise the original one. */
export function nodeName({ customName, originalName }: Pick<NodeEntity, 'customName' | 'originalName'>): string {
  return customName ?? originalName;
}

function countryOf({ country, countrySource }: Pick<NodeEntity, 'country' | 'countrySource'>) {
  return {
    country,
    country_name: country === null ? null : countryName(country),
    flag: country === null ? null : flagOf(country),
    country_source: countrySource,
  };
}

/** A node that a subscription still contains was last seen at that subscription's last refresh. */
function lastSeen(sources: readonly NodeSourceRow[]): string | null {
  const times = sources.flatMap(({ last_success_at }) => (last_success_at ? [utc(last_success_at)] : []));
  return times.reduce<string | null>((last, time) => (last === null || time > last ? time : last), null);
}

/** RFC 3339 in UTC with milliseconds, as everywhere in the API. */
function utc(time: string): string {
  return new Date(time).toISOString();
}
