import type { ProxyNode, RefreshReason } from '@gatehouse/contracts';

/** A node that the subscription carries now. */
export interface CurrentNode {
  id: number;
  fingerprint: string;
  type: string;
  /** What this subscription calls it. */
  name: string;
  /** Added by hand too, or carried by another subscription: its row is not ours alone to alter. */
  shared: boolean;
}

export interface CurrentSet {
  nodes: readonly CurrentNode[];
  /** Those of the reply's fingerprints that have a row already, whosever. */
  known: ReadonlySet<string>;
}

export interface ParsedEntry {
  fingerprint: string;
  node: ProxyNode;
}

/** What a reply turned out to be. */
export type ParsedReply =
  { kind: 'nodes'; entries: readonly ParsedEntry[] } | { kind: 'unusable'; reason: RefreshReason; message: string };

export interface RefreshPolicy {
  /** From 0 to 1: a reply with fewer than this share of the nodes before is not believed. 0 believes any that is not empty. */
  keepRatio: number;
}

/** A node with its place in the reply. */
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
  /** New to this subscription. A row may exist already, from elsewhere. */
  add: PlannedNode[];
  /** The row keeps its id and takes another configuration. */
  update: (PlannedNode & { id: number })[];
  /** Same node; its name or place may differ. */
  retain: (PlannedNode & { id: number })[];
  /** No longer carried by this subscription. */
  remove: number[];
  duplicates: number;
}

export type RefreshPlan = KeepPlan | ReplacePlan;

/**
 * Decides what a reply does to a subscription's nodes: the whole new set takes over, or the whole old one stays.
 * A node is the same when it connects to the same thing; failing that, when it is the only one of its type and name on
 * both sides (a provider that moved a port or changed a password), so that its id and what refers to it survive.
 */
export function planRefresh(current: CurrentSet, reply: ParsedReply, policy: RefreshPolicy): RefreshPlan {
  if (reply.kind === 'unusable') return { kind: 'keep', reason: reply.reason, message: reply.message };
  const wanted = distinct(reply.entries);
  const before = current.nodes.length;
  if (wanted.length === 0) {
    return { kind: 'keep', reason: 'empty_result', message: 'The reply holds no node that can be read.' };
  }
  if (wanted.length < before * policy.keepRatio) {
    const message = `The reply holds ${wanted.length} nodes where there were ${before}; that is below the share that is believed.`;
    return { kind: 'keep', reason: 'shrunk_below_threshold', message };
  }
  return { ...match(current, wanted), duplicates: reply.entries.length - wanted.length };
}

/** First of each fingerprint, numbered in order. */
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

/** Those whose key nothing else in the list has. */
function unique<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T> {
  const seen = new Map<string, T | null>();
  for (const item of items) seen.set(keyOf(item), seen.has(keyOf(item)) ? null : item);
  return new Map([...seen].filter((pair): pair is [string, T] => pair[1] !== null));
}
