import type { Sharer } from './share-writer.js';

/** A member who shares on the site itself, with their permissions there. */
export function siteSharer({ id, permissions }: { id: number; permissions: readonly string[] }): Sharer {
  return { userId: id, permissions, applicationId: null, credentialId: null, grantId: null };
}
