import { notify } from '@gatehouse/persistence';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';

const RULES_LOCK = 7_431_903;

/** Lets one transaction at a time change the list, so that two insertions do not get the same position. */
export async function lockRules(tx: EntityManager): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [RULES_LOCK]);
}

/**
 * The kernels of all replicas follow the notification. The caller also waits for its own, so that a change is in effect
 * when it answers.
 */
export function announceRules(tx: EntityManager): Promise<void> {
  return notify(tx, KERNEL_CONFIG_CHANNEL, 'rules');
}

/** The list of rules that are in force has changed, although no trigger sees it. */
export async function nextRevision(tx: EntityManager): Promise<void> {
  await tx.query('UPDATE rule_revision SET revision = revision + 1');
}
