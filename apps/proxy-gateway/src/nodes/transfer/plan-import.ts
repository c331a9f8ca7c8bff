import type { ImportAction, ImportMode, NodeSource, ProxyNode } from '@gatehouse/contracts';
import type { EntryLabels, ImportEntry } from './read-import.js';

/** A node that an import may affect: one that it names, or one that a user added by hand. */
export interface ExistingNode {
  id: number;
  fingerprint: string;
  source: NodeSource;
  /** The name that users see. */
  name: string;
  /** A subscription contains it and decides its definition. */
  carried: boolean;
  enabled: boolean;
  /** Only if a user chose it. */
  country: string | null;
  tags: readonly string[];
}

export interface NodeChange {
  id: number;
  /** A new definition with its name; null leaves the present one. */
  definition: ImportEntry | null;
  /** A name of its own beside that of the definition; undefined leaves the present one, null removes it. */
  customName: string | null | undefined;
  labels: EntryLabels;
}

export interface PlannedEntry {
  entry: ImportEntry;
  action: Extract<ImportAction, 'created' | 'updated' | 'unchanged'>;
  /** Null for a node to be created. */
  id: number | null;
}

export interface ImportPlan {
  entries: PlannedEntry[];
  create: ImportEntry[];
  change: NodeChange[];
  /** Nodes that stop being manual. */
  remove: { id: number; name: string }[];
}

/** Whether a row's definition equals `node`, apart from the name. */
export type SameDefinition = (existing: ExistingNode, node: ProxyNode) => boolean;

/**
 * Plans an import row by row. Nothing that exists is removed, except with `replace` the nodes that the import does not
 * name.
 */
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
  // A link may say less about the node than the row does; then only its name is used.
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
