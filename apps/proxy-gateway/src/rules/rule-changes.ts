import { notify } from '@gatehouse/persistence';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';

const RULES_LOCK = 7_431_903;

/** One change of the list at a time, so that two insertions at one place keep apart. */
export async function lockRules(tx: EntityManager): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [RULES_LOCK]);
}

/** Every replica's kernel follows; this one is waited for besides, so that the answer means: in force. */
export function announceRules(tx: EntityManager): Promise<void> {
  return notify(tx, KERNEL_CONFIG_CHANNEL, 'rules');
}
