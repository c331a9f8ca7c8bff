import type { ProxyNode, RefreshReason } from '@gatehouse/contracts';

/** A node that the subscription contains at present. */
export interface CurrentNode {
  id: number;
  fingerprint: string;
  type: string;
  /** Its name in this subscription. */
  name: string;
  /** Also added by hand, or part of another subscription, so its row must not be rewritten. */
  shared: boolean;
}

export interface CurrentSet {
  nodes: readonly CurrentNode[];
  /** Fingerprints of the reply that already have a row, from any source. */
  known: ReadonlySet<string>;
}

export interface ParsedEntry {
  fingerprint: string;
  node: ProxyNode;
}

/** The kinds of replies. */
export type ParsedReply =
  | {
      kind: 'nodes';
      entries: readonly ParsedEntry[];
      /** It names sources of nodes, so that it may have none of its own. */
      hasProviders?: boolean;
    }
  | { kind: 'unusable'; reason: RefreshReason; message: string };

export interface RefreshPolicy {
  /**
   * From 0 to 1: a reply with less than this share of the previous nodes is rejected. 0 accepts any reply that is not
   * empty.
   */
  keepRatio: number;
}

/** A node with its position in the reply. */
export interface PlannedNode extends ParsedEntry {
  position: number;
}

export interface KeepPlan {
  kind: 'keep';
  reason: RefreshReason;
  message: string;
}

export interface ReplacePlan {
  kind: 'replace';
  /** Nodes that are new to this subscription; a row may already exist from another source. */
  add: PlannedNode[];
  /** Rows that keep their id and get another configuration. */
  update: (PlannedNode & { id: number })[];
  /** Unchanged nodes; their name or position may differ. */
  retain: (PlannedNode & { id: number })[];
  /** Nodes that are no longer part of this subscription. */
  remove: number[];
  duplicates: number;
}

export type RefreshPlan = KeepPlan | ReplacePlan;

/**
 * Plans what a reply does to a subscription's nodes: either the whole new set replaces the old one, or nothing changes.
 * Two nodes are the same if they connect to the same thing. Otherwise they are the same if each is the only one of its
 * type and name on its side (a provider moved a port or changed a password), so that the id and references to it
 * survive.
 */
export function planRefresh(current: CurrentSet, reply: ParsedReply, policy: RefreshPolicy): RefreshPlan {
  if (reply.kind === 'unusable') return { kind: 'keep', reason: reply.reason, message: reply.message };
  const wanted = distinct(reply.entries);
  const before = current.nodes.length;
  if (wanted.length === 0 && reply.hasProviders !== true) {
    return { kind: 'keep', reason: 'empty_result', message: 'The reply contains no readable node.' };
  }
  if (wanted.length < before * policy.keepRatio) {
    const message = `The reply contains ${wanted.length} nodes instead of ${before}; that is below the accepted share.`;
    return { kind: 'keep', reason: 'shrunk_below_threshold', message };
  }
  return { ...match(current, wanted), duplicates: reply.entries.length - wanted.length };
}

/** The first of each fingerprint, numbered in order. */
function distinct(entries: readonly ParsedEntry[]): PlannedNode[] {
  const first = new Map<string, PlannedNode>();
  for (const entry of entries) {
    if (!first.has(entry.fingerprint)) first.set(entry.fingerprint, { ...entry, position: first.size });
  }
  return [...first.values()];
}

function match(current: CurrentSet, wanted: PlannedNode[]): Omit<ReplacePlan, 'duplicates'> {
  const left = new Map(current.nodes.map((node) => [node.fingerprint, node]));
  const retain: ReplacePlan['retain'] = [];
  const unmatched: PlannedNode[] = [];
  for (const planned of wanted) {
    const same = left.get(planned.fingerprint);
    if (same) retain.push({ ...planned, id: same.id });
    else unmatched.push(planned);
    left.delete(planned.fingerprint);
  }
  const replaceable = unique(
    [...left.values()].filter(({ shared }) => !shared),
    ({ type, name }) => `${type} ${name}`,
  );
  const renewing = unique(unmatched, ({ node }) => `${node.type} ${node.name}`);
  const add: PlannedNode[] = [];
  const update: ReplacePlan['update'] = [];
  for (const planned of unmatched) {
    const label = `${planned.node.type} ${planned.node.name}`;
    const old = replaceable.get(label);
    if (old && renewing.has(label) && !current.known.has(planned.fingerprint)) {
      update.push({ ...planned, id: old.id });
      left.delete(old.fingerprint);
    } else add.push(planned);
  }
  return { kind: 'replace', add, update, retain, remove: [...left.values()].map(({ id }) => id) };
}

/** Items whose key occurs only once in the list. */
function unique<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T> {
  const seen = new Map<string, T | null>();
  for (const item of items) seen.set(keyOf(item), seen.has(keyOf(item)) ? null : item);
  return new Map([...seen].filter((pair): pair is [string, T] => pair[1] !== null));
}
