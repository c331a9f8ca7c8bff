import type { ImportAction, ImportMode, NodeSource, ProxyNode } from '@gatehouse/contracts';
import type { EntryLabels, ImportEntry } from './read-import.js';

/** A node that an import may meet: one that it names, or any that people added by hand. */
export interface ExistingNode {
  id: number;
  fingerprint: string;
  source: NodeSource;
  /** As people see it. */
  name: string;
  /** A subscription decides its definition. */
  carried: boolean;
  enabled: boolean;
  /** Only where a person chose it. */
  country: string | null;
  tags: readonly string[];
}

export interface NodeChange {
  id: number;
  /** Another definition, with its name in it; null leaves it. */
  definition: ImportEntry | null;
  /** A name of its own beside the definition's; undefined leaves what is there, null takes it away. */
  customName: string | null | undefined;
  labels: EntryLabels;
}

export interface PlannedEntry {
  entry: ImportEntry;
  action: Extract<ImportAction, 'created' | 'updated' | 'unchanged'>;
  /** Null for one that is to be created. */
  id: number | null;
}

export interface ImportPlan {
  entries: PlannedEntry[];
  create: ImportEntry[];
  change: NodeChange[];
  /** Nodes that end being manual. */
  remove: { id: number; name: string }[];
}

/** Whether the row's definition says what `node` says, names apart. */
export type SameDefinition = (existing: ExistingNode, node: ProxyNode) => boolean;

/** Decides what an import does, row by row. Nothing that exists is lost but, with `replace`, what the import does not name. */
export function planImport(
  existing: readonly ExistingNode[],
  entries: readonly ImportEntry[],
  mode: ImportMode,
  isSame: SameDefinition,
): ImportPlan {
  const byFingerprint = new Map(existing.map((node) => [node.fingerprint, node]));
  const plan: ImportPlan = { entries: [], create: [], change: [], remove: [] };
  for (const entry of entries) {
    const known = byFingerprint.get(entry.fingerprint);
    if (!known) {
      plan.create.push(entry);
      plan.entries.push({ entry, action: 'created', id: null });
      continue;
    }
    byFingerprint.delete(entry.fingerprint);
    const change = changeOf(known, entry, isSame);
    if (change) plan.change.push(change);
    plan.entries.push({ entry, action: change ? 'updated' : 'unchanged', id: known.id });
  }
  if (mode === 'replace') {
    const left = [...byFingerprint.values()].filter(({ source }) => source === 'manual');
    plan.remove = left.map(({ id, name }) => ({ id, name }));
  }
  return plan;
}

function changeOf(known: ExistingNode, entry: ImportEntry, isSame: SameDefinition): NodeChange | null {
  const { node, labels, complete } = entry;
  const renamed = node.name !== known.name;
  // The same node by a link may say less than the row does: only its name is news then.
  const redefined = !known.carried && complete && !isSame(known, node);
  const becomesManual = known.source !== 'manual';
  if (!renamed && !redefined && !becomesManual && !relabelled(known, labels)) return null;
  if (redefined) return { id: known.id, definition: entry, customName: null, labels };
  return { id: known.id, definition: null, customName: renamed ? node.name : undefined, labels };
}

function relabelled(known: ExistingNode, { enabled, country, tags }: EntryLabels): boolean {
  return (
    (enabled !== undefined && enabled !== known.enabled) ||
    (country !== undefined && country !== known.country) ||
    (tags !== undefined && tags.join('\n') !== known.tags.join('\n'))
  );
}
