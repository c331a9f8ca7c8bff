import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';

/** The address that something is fetched from, as it was before a change or as it is after it. */
export interface Source {
  allowPrivate: boolean;
  sealedUrl: string | null;
}

/**
 * Only administrators may have private addresses fetched: the content is shown, so any other user could read what only
 * the network of this machine should reach.
 * @param before null for a new resource.
 * @throws AppError FORBIDDEN.
 */
export function refusePrivateSource(actor: Actor | null, before: Source | null, after: Source): void {
  const same = before?.allowPrivate === after.allowPrivate && before.sealedUrl === after.sealedUrl;
  if (!after.allowPrivate || same || actor === null || allows(actor, 'admin')) return;
  const message = 'needs the scope admin, as does another url while it is set';
  throw new AppError('FORBIDDEN', `allow_private: ${message}`, { details: [{ field: 'allow_private', message }] });
}
