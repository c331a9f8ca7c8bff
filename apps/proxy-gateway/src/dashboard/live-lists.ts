import type { LiveDomain, LiveNode, LiveUser } from '@gatehouse/contracts';
import type { ConnectionSnapshot } from '@gatehouse/proxy-kernel';
import { domainOf } from '../traffic/accounting-batch.js';
import { nodeIdOf } from '../data/flow-names.js';
import type { FlowNames } from '../data/flow-names.js';

/** The sums over connections that share a key. */
interface LiveSum {
  connections: number;
  upload: number;
  download: number;
  upload_speed: number;
  download_speed: number;
  nodes: Set<string>;
}

/** The domains of open connections, the busiest first. */
export function liveDomains(connections: readonly ConnectionSnapshot[]): LiveDomain[] {
  const sums = sumBy(connections, domainOf);
  return busiestFirst(sums).map(([domain, { nodes, ...sum }]) => ({ domain, ...sum, node_count: nodes.size }));
}

/** The nodes and built-ins that carry open connections, the busiest first. `nameNodes` fills in their names. */
export function liveNodes(
  connections: readonly ConnectionSnapshot[],
): (Omit<LiveNode, 'name' | 'country'> & { tag: string })[] {
  const sums = sumBy(connections, carrierOf);
  return busiestFirst(sums).map(([tag, { nodes: _nodes, ...sum }]) => ({ tag, node_id: nodeIdOf(tag), ...sum }));
}

/** The users with open connections, the busiest first. */
export function liveUsers(connections: readonly ConnectionSnapshot[]): LiveUser[] {
  const ofUsers = connections.filter(({ inboundUser }) => inboundUser !== null);
  const sums = sumBy(ofUsers, ({ inboundUser }) => inboundUser ?? '');
  return busiestFirst(sums).map(([user, { nodes, ...sum }]) => ({ user, ...sum, node_count: nodes.size }));
}

/** Replaces the kernel's tags with names. */
export function nameNodes<T extends { tag: string }>(
  items: readonly T[],
  names: FlowNames,
): (Omit<T, 'tag'> & { name: string; country: string | null })[] {
  return items.map(({ tag, ...item }) => {
    const node = names.node(tag);
    return { ...item, name: node?.name ?? tag, country: node?.country ?? null };
  });
}

function carrierOf(connection: ConnectionSnapshot): string {
  return connection.nodeTag ?? connection.chain.at(-1) ?? 'REJECT';
}

function sumBy(
  connections: readonly ConnectionSnapshot[],
  keyOf: (connection: ConnectionSnapshot) => string,
): Map<string, LiveSum> {
  const sums = new Map<string, LiveSum>();
  for (const connection of connections) {
    const key = keyOf(connection);
    const sum = sums.get(key) ?? {
      connections: 0,
      upload: 0,
      download: 0,
      upload_speed: 0,
      download_speed: 0,
      nodes: new Set(),
    };
    sums.set(key, sum);
    sum.connections++;
    sum.upload += connection.upload;
    sum.download += connection.download;
    sum.upload_speed += connection.uploadSpeed;
    sum.download_speed += connection.downloadSpeed;
    if (connection.nodeTag !== null) sum.nodes.add(connection.nodeTag);
  }
  return sums;
}

/** By speed, then by bytes, then by name, so that pages do not overlap. */
function busiestFirst(sums: ReadonlyMap<string, LiveSum>): [string, LiveSum][] {
  return [...sums].sort(([nameA, a], [nameB, b]) => {
    const bySpeed = b.upload_speed + b.download_speed - (a.upload_speed + a.download_speed);
    const byBytes = b.upload + b.download - (a.upload + a.download);
    return bySpeed || byBytes || (nameA < nameB ? -1 : 1);
  });
}
