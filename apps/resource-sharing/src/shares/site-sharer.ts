import type { Sharer } from './share-writer.js';

/** Somebody who shares on the site itself, with what they may do there. */
export function siteSharer({ id, permissions }: { id: number; permissions: readonly string[] }): Sharer {
  return { userId: id, permissions, applicationId: null, credentialId: null, grantId: null };
}
