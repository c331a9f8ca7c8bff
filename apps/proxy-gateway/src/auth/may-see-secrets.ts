import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';

/** A caller that may change resources may also see their credentials. Null stands for everyone while login is off. */
export function maySeeSecrets(actor: Actor | null): boolean {
  return actor === null || allows(actor, 'write');
}
