import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';

/** Whoever may change things knows their credentials; null stands for the service while login is off. */
export function maySeeSecrets(actor: Actor | null): boolean {
  return actor === null || allows(actor, 'write');
}
