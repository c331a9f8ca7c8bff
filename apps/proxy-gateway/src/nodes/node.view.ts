import type { NodeSourceView, NodeView, ProxyNode } from '@gatehouse/contracts';
import { kernelSupport } from '../kernel-host/kernel-support.js';
import { countryName, flagOf } from './country-names.js';
import { maskSecrets } from './mask-secrets.js';
import type { NodeEntity } from './node.entity.js';
import { shareLink, writeRawConfig } from './raw-config.js';

export interface NodeSourceRow extends NodeSourceView {
  subscription_name: string;
  last_success_at: Date | null;
}

export interface NodeViewFacts {
  /** Opened. */
  node: ProxyNode;
  /** In the order of their subscriptions. */
  sources: readonly NodeSourceRow[];
  /** False masks credentials. */
  showSecrets: boolean;
}

export function toNodeView(row: NodeEntity, { node, sources, showSecrets }: NodeViewFacts): NodeView {
  const { support, reason } = kernelSupport(node);
  const [first] = sources;
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
    raw_config: writeRawConfig(showSecrets ? node : maskSecrets(node)),
    share_link: showSecrets ? shareLink(node) : null,
    fingerprint: row.fingerprint,
    enabled: row.enabled,
    kernel_support: support,
    unsupported_reason: reason,
    ...countryOf(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    first_seen_at: row.createdAt.toISOString(),
    last_seen_at: lastSeen(sources),
  };
}

/** The name that a person gave, else the one it came with. */
export function nodeName({ customName, originalName }: Pick<NodeEntity, 'customName' | 'originalName'>): string {
  return customName ?? originalName;
}

function countryOf({ country, countrySource }: NodeEntity) {
  return {
    country,
    country_name: country === null ? null : countryName(country),
    flag: country === null ? null : flagOf(country),
    country_source: countrySource,
  };
}

/** A node that is still carried was seen whenever one of its subscriptions was last read. */
function lastSeen(sources: readonly NodeSourceRow[]): string | null {
  const times = sources.flatMap(({ last_success_at }) => (last_success_at ? [last_success_at.getTime()] : []));
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}
