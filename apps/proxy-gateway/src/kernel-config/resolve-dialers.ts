import type { ProxyNode } from '@gatehouse/contracts';
import { nodeIdOf } from '../data/flow-names.js';

/** A node that may dial through another, or be dialled through. */
export interface DialingNode {
  id: number;
  /** The name that users see; `node.name` is the one from its subscription. */
  name: string;
  node: Pick<ProxyNode, 'name' | 'dialerProxy'>;
  /** Empty for a node that was only added by hand. */
  subscriptionIds: readonly number[];
}

/** The tag of the outbound that connects to a node's server (null: direct), or the reason why there is none. */
export type ResolvedDialer = { dialer: string | null } | { reason: string };

const tagOf = (id: number): string => `n${id}`;

/**
 * Resolves the `dialer-proxy` of nodes: a node of the same subscription with that name, otherwise one that was added by
 * hand, otherwise the group with that name. `groups` holds the members of each group by tag. A node whose dialer does
 * not exist, or that would dial through itself, gets a reason instead, and so do nodes that dial through it.
 */
export function resolveDialers(
  nodes: readonly DialingNode[],
  groups: ReadonlyMap<string, readonly string[]>,
): Map<number, ResolvedDialer> {
  const chained = nodes.filter(({ node }) => node.dialerProxy !== undefined && node.dialerProxy !== '');
  const resolved = new Map<number, ResolvedDialer>();
  if (chained.length === 0) return resolved;
  const byName = indexNames(nodes);
  for (const node of chained) resolved.set(node.id, lookUp(node, byName, groups));
  const through = (tag: string): readonly string[] => groups.get(tag) ?? dialerOf(resolved, tag);
  for (const { id, node } of chained) {
    const [dialer] = dialerOf(resolved, tagOf(id));
    if (dialer === undefined || !leadsTo(dialer, tagOf(id), through)) continue;
    resolved.set(id, { reason: `its dialer ${quote(node.dialerProxy)} would dial through this node itself` });
  }
  spreadReasons(resolved);
  return resolved;
}

type NameIndex = ReadonlyMap<string, readonly DialingNode[]>;

function indexNames(nodes: readonly DialingNode[]): NameIndex {
  const index = new Map<string, DialingNode[]>();
  for (const node of nodes) {
    for (const name of new Set([node.node.name, node.name])) {
      const present = index.get(name);
      if (present) present.push(node);
      else index.set(name, [node]);
    }
  }
  return index;
}

function lookUp(
  { id, node, subscriptionIds }: DialingNode,
  byName: NameIndex,
  groups: ReadonlyMap<string, unknown>,
): ResolvedDialer {
  const name = node.dialerProxy ?? '';
  if (name === 'DIRECT') return { dialer: null };
  const named = (byName.get(name) ?? []).filter((candidate) => candidate.id !== id);
  const beside = named.find((other) => other.subscriptionIds.some((own) => subscriptionIds.includes(own)));
  const found = beside ?? named.find((other) => other.subscriptionIds.length === 0);
  if (found) return { dialer: tagOf(found.id) };
  if (groups.has(name)) return { dialer: name };
  return { reason: `its dialer ${quote(name)} is no node beside it, no manual node and no group that can be used` };
}

/** Undefined for a node that dials directly or not at all. */
function dialerOf(resolved: ReadonlyMap<number, ResolvedDialer>, tag: string): string[] {
  const own = resolved.get(nodeIdOf(tag) ?? NaN);
  return own && 'dialer' in own && own.dialer !== null ? [own.dialer] : [];
}

function leadsTo(from: string, target: string, through: (tag: string) => readonly string[]): boolean {
  const seen = new Set<string>([from]);
  // Iterating a set also visits elements that are added on the way.
  for (const tag of seen) {
    if (tag === target) return true;
    for (const next of through(tag)) seen.add(next);
  }
  return false;
}

/** A node that dials through a node without a way is left out as well. */
function spreadReasons(resolved: Map<number, ResolvedDialer>): void {
  for (let changed = true; changed;) {
    changed = false;
    for (const [id, own] of resolved) {
      if (!('dialer' in own) || own.dialer === null) continue;
      const hop = resolved.get(nodeIdOf(own.dialer) ?? NaN);
      if (!hop || !('reason' in hop)) continue;
      resolved.set(id, { reason: `its dialer ${own.dialer} is left out itself: ${hop.reason}` });
      changed = true;
    }
  }
}

function quote(name: string | undefined): string {
  return JSON.stringify((name ?? '').slice(0, 80));
}
