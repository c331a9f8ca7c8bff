import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';

/** Where something is fetched from, before a change and after it. */
export interface Source {
  allowPrivate: boolean;
  sealedUrl: string | null;
}

/**
 * Only administrators decide what is fetched from private addresses: what comes back is shown, so that everybody else
 * could read what only this machine's network may.
 * @param before null for a new one.
 * @throws AppError FORBIDDEN.
 */
export function refusePrivateSource(actor: Actor | null, before: Source | null, after: Source): void {
  const same = before?.allowPrivate === after.allowPrivate && before.sealedUrl === after.sealedUrl;
  if (!after.allowPrivate || same || actor === null || allows(actor, 'admin')) return;
  const message = 'needs the scope admin, as does another url while it is set';
  throw new AppError('FORBIDDEN', `allow_private: ${message}`, { details: [{ field: 'allow_private', message }] });
}
