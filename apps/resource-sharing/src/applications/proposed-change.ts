import type { Application, ProposedChange } from './application-rows.js';
import type { ApplicationChange } from './application-writes.js';

/**
 * A change of an application in two parts: one takes effect at once, the other waits until an administrator has
 * accepted it.
 */
export interface SplitChange {
  readonly now: ApplicationChange;
  readonly proposed: ProposedChange | null;
}

/**
 * Users trust a reviewed application by its name, its description and its redirect addresses, so these wait for a
 * review. Removing an address takes effect at once, because it may be urgent, unless none would be left.
 */
export function splitChange(present: Application, change: ApplicationChange): SplitChange {
  if (!isReviewed(present)) return { now: change, proposed: null };
  const wanted = { ...present.proposed, ...shownPart(change) };
  const proposed: ProposedChange = {
    ...(wanted.name === undefined || wanted.name === present.name ? {} : { name: wanted.name }),
    ...(wanted.description === undefined || wanted.description === present.description
      ? {}
      : { description: wanted.description }),
    ...(wanted.redirectUris?.some((uri) => !present.redirectUris.includes(uri)) === true
      ? { redirectUris: [...new Set(wanted.redirectUris)] }
      : {}),
  };
  const kept = present.redirectUris.filter((uri) => change.redirectUris?.includes(uri) === true);
  const redirectUris = kept.length > 0 ? kept : undefined;
  const now = { ...change, name: undefined, description: undefined, redirectUris };
  return { now, proposed: Object.keys(proposed).length > 0 ? proposed : null };
}

function isReviewed({ authLevel, status }: Application): boolean {
  return authLevel !== 'unverified' || status === 'approved';
}

function shownPart({ name, description, redirectUris }: ApplicationChange): ProposedChange {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(redirectUris === undefined ? {} : { redirectUris }),
  };
}
