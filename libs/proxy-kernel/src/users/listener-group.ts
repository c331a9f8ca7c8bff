import type { AuthVerdict, ConnectionMetadata } from '../interfaces/index.js';

/** The flow of a listener that has a group: it asks for this group, and for what its user asks for within. */
export function inGroup(metadata: ConnectionMetadata, group: string | undefined): ConnectionMetadata {
  return group === undefined ? metadata : { ...metadata, wishes: { ...metadata.wishes, group } };
}

/** Refuses a login that asks for another group than the listener's, since it would not get it. */
export function withoutOtherGroup(verdict: AuthVerdict, group: string | undefined): AuthVerdict {
  const asked = verdict.login?.wishes?.group;
  if (group === undefined || asked === undefined || asked === group) return verdict;
  return { ...verdict, login: null, problem: 'group is another one than that of this port' };
}
