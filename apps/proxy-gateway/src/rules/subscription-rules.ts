import type { BroughtRules } from '@gatehouse/contracts';
import type { EntityManager } from 'typeorm';
import { nodeIdOf } from '../data/flow-names.js';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import { announceRules, lockRules } from './rule-changes.js';
import type { StoredDefinition } from './rule-definition.js';
import { readRules, writePlan } from './rule-rows.store.js';
import type { RuleOwner } from './rule-rows.store.js';
import { loadTargetNames } from './target-names.js';
import { planImport } from './transfer/plan-import.js';

/** A rule of a profile; its target is a kernel tag, or a name that is unknown so far. */
export type ProfileRule = StoredDefinition & { note: string | null };

/**
 * Replaces the rules of a subscription with those of its profile, in the transaction that replaces its nodes; without
 * rules all are removed. A rule that stays keeps its id and its hits. A rule with an unknown target has no effect until
 * a group or node of that name exists.
 * @param lines how many lines the document has; those that are no rules here are skipped.
 */
export async function replaceSubscriptionRules(
  tx: EntityManager,
  subscriptionId: number,
  rules: readonly ProfileRule[],
  lines = rules.length,
): Promise<BroughtRules> {
  await lockRules(tx);
  const owner: RuleOwner = { source: 'subscription', subscriptionId };
  const existing = await readRules(tx, owner);
  const skipped = Math.max(0, lines - rules.length);
  if (existing.length === 0 && rules.length === 0) return { kept: 0, added: 0, removed: 0, skipped };
  const wanted = rules.map((rule) => ({ ...rule, enabled: undefined, priority: undefined }));
  const plan = planImport('replace', existing, wanted);
  const { created, updated, unchanged, removed } = plan.counts;
  if (created + updated + removed > 0) {
    await writePlan(tx, owner, plan);
    await announceRules(tx);
  }
  return { kept: updated + unchanged, added: created, removed, skipped };
}

/** The name as written, so that it refers to a later group of that name, but never to one of our tags. */
export function unknownTarget(name: string): string {
  return nodeIdOf(name) === null ? name : JSON.stringify(name);
}

/** The names that a provider's document may use: its own nodes, and groups and nodes of ours. */
export interface ProviderNames {
  /** The tag of a node by the provider's name, if only one has it. */
  own: ReadonlyMap<string, string | null>;
  /** The tag of a group or node of ours. A provider's text is never one of our tags: there, `n5` is a name. */
  foreign: (name: string) => string | null;
}

export async function loadProviderNames(tx: EntityManager, subscriptionId: number): Promise<ProviderNames> {
  const names = await loadTargetNames(tx);
  const own = new Map<string, string | null>();
  const rows: { node_id: number; name: string }[] = await tx.query(
    'SELECT node_id, name FROM node_sources WHERE subscription_id = $1',
    [subscriptionId],
  );
  for (const row of rows) own.set(row.name, own.has(row.name) ? null : nodeTag(row.node_id));
  const foreign = (name: string): string | null => {
    const found = names.findName(name);
    return 'tag' in found ? found.tag : null;
  };
  return { own, foreign };
}
