import type { EntityManager } from 'typeorm';
import { nextRevision } from '../rules/rule-changes.js';
import { OutboundPolicyEntity } from '../data/outbound-policy.entity.js';

/** Which profile drives the rules; null: none. A transaction that changes it locks it first. */
export async function readActive(tx: EntityManager, lock = false): Promise<OutboundPolicyEntity> {
  return tx.findOneOrFail(OutboundPolicyEntity, {
    where: { id: 1 },
    ...(lock && { lock: { mode: 'pessimistic_write' as const } }),
  });
}

/** Changes the active profile, and remembers the one before. @returns whether that is a change. */
export async function activate(tx: EntityManager, subscriptionId: number | null): Promise<boolean> {
  const { activeProfile } = await readActive(tx, true);
  if (activeProfile === subscriptionId) return false;
  await tx.update(OutboundPolicyEntity, 1, {
    activeProfile: subscriptionId,
    previousProfile: activeProfile,
    canGoBack: true,
  });
  await nextRevision(tx);
  return true;
}

/** A first profile becomes active; further ones wait until they are chosen, so that they change nothing. */
export async function activateFirst(tx: EntityManager, subscriptionId: number): Promise<void> {
  const { activeProfile } = await readActive(tx, true);
  if (activeProfile === null) await activate(tx, subscriptionId);
}

/** Forgets a profile that is no more. */
export async function deactivate(tx: EntityManager, subscriptionId: number): Promise<void> {
  const { activeProfile, previousProfile, canGoBack } = await readActive(tx, true);
  const concerns = activeProfile === subscriptionId || previousProfile === subscriptionId;
  if (!concerns) return;
  await tx.update(OutboundPolicyEntity, 1, {
    activeProfile: activeProfile === subscriptionId ? null : activeProfile,
    previousProfile: previousProfile === subscriptionId ? null : previousProfile,
    canGoBack: canGoBack && activeProfile !== subscriptionId && previousProfile !== subscriptionId,
  });
  await nextRevision(tx);
}
