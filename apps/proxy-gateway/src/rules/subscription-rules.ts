import { KernelConfigError, parseRuleLine } from '@gatehouse/proxy-kernel';
import type { RuleDefinition } from '@gatehouse/proxy-kernel';
import { setImmediate } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import { nodeIdOf } from '../data/flow-names.js';
import { announceRules, lockRules } from './rule-changes.js';
import { readRules, writePlan } from './rule-rows.store.js';
import type { RuleOwner } from './rule-rows.store.js';
import { loadTargetNames } from './target-names.js';
import { planImport } from './transfer/plan-import.js';
import type { WantedRule } from './transfer/plan-import.js';

/** The result of bringing in the rules of a subscription's document. */
export interface BroughtRules {
  kept: number;
  added: number;
  removed: number;
  /** Lines that this kernel does not support. */
  skipped: number;
}

/** Lines read before yielding to the event loop. */
const SLICE = 2_000;

/**
 * Replaces the rules of a subscription with those of its document, in the transaction that replaces its nodes; without
 * lines all are removed. A rule that stays keeps its id and its hits. A rule with an unknown target has no effect until
 * a group or node of that name exists.
 */
export async function replaceSubscriptionRules(
  tx: EntityManager,
  subscriptionId: number,
  lines: readonly string[],
): Promise<BroughtRules> {
  await lockRules(tx);
  const owner: RuleOwner = { source: 'subscription', subscriptionId };
  const existing = await readRules(tx, owner);
  if (existing.length === 0 && lines.length === 0) return { kept: 0, added: 0, removed: 0, skipped: 0 };
  const { wanted, skipped } = await readLines(lines, await foreignTargets(tx, subscriptionId));
  const plan = planImport('replace', existing, wanted);
  const { created, updated, unchanged, removed } = plan.counts;
  if (created + updated + removed > 0) {
    await writePlan(tx, owner, plan);
    await announceRules(tx);
  }
  return { kept: updated + unchanged, added: created, removed, skipped };
}

async function readLines(lines: readonly string[], targetOf: (name: string) => string | null) {
  const wanted: WantedRule[] = [];
  for (const [index, line] of lines.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const rule = readLine(line);
    if (rule === null) continue;
    const { type, payload, target: name, noResolve = false, src = false } = rule;
    const tag = targetOf(name);
    const note = tag === null ? `${JSON.stringify(name)} is not a group or node here` : null;
    const definition = { type, payload, target: tag ?? unknownTarget(name), noResolve, src };
    wanted.push({ ...definition, note, enabled: undefined, priority: undefined });
  }
  return { wanted, skipped: lines.length - wanted.length };
}

/**
 * Null for a line that this kernel does not support: one that needs the operating system, or a list of the document's
 * own.
 */
function readLine(line: string): RuleDefinition | null {
  if (/\p{Cc}/u.test(line)) return null;
  try {
    return parseRuleLine(line);
  } catch (error) {
    if (error instanceof KernelConfigError) return null;
    throw error;
  }
}

/** The name as written, so that it refers to a later group of that name, but never to one of our tags. */
function unknownTarget(name: string): string {
  return nodeIdOf(name) === null ? name : JSON.stringify(name);
}

/**
 * Resolves a name in a provider's rules: a built-in policy, a group of ours, or a node by the provider's name or by
 * ours.
 */
async function foreignTargets(tx: EntityManager, subscriptionId: number): Promise<(name: string) => string | null> {
  const names = await loadTargetNames(tx);
  const own = new Map<string, string | null>();
  const rows: { node_id: number; name: string }[] = await tx.query(
    'SELECT node_id, name FROM node_sources WHERE subscription_id = $1',
    [subscriptionId],
  );
  for (const row of rows) own.set(row.name, own.has(row.name) ? null : nodeTag(row.node_id));
  return (name) => {
    const found = names.findName(name);
    const tag = 'tag' in found ? found.tag : null;
    const isNode = tag === null || nodeIdOf(tag) !== null;
    return isNode ? (own.get(name) ?? tag) : tag;
  };
}
