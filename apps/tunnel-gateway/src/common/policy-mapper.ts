import type { VisitorOAuthClient, VisitorPolicyConfig } from '@gatehouse/tunnel-kernel';
import type { PolicyRow, StoredOAuth } from './config-rows.js';

/** Null if it cannot be opened. */
export type OpenSecret = (policyId: number, sealed: string) => string | null;

const KEY_HASH = /^sha256:([0-9a-f]{64})$/;

export function toPolicy(row: PolicyRow, open: OpenSecret): VisitorPolicyConfig {
  const { kind, resourceId, oauth, sealedSecret, ...policy } = row;
  const client = oauth && toClient(oauth, sealedSecret, (sealed) => open(row.id, sealed));
  return { ...policy, resource: { kind, id: resourceId }, ...(client && { oauth: client }) };
}

/**
 * Keys of private tunnels are policies whose password is a plain hash: the keys are random, so a slow hash gains
 * nothing.
 */
export function isVisitorKey({ kind, type, password }: PolicyRow): boolean {
  return kind === 'tunnel' && type === 'password' && KEY_HASH.test(password ?? '');
}

export function visitorKeysOf(policies: readonly PolicyRow[]): Map<number, string> {
  return new Map(
    policies
      .filter(isVisitorKey)
      .map(({ resourceId, password }) => [resourceId, password?.slice('sha256:'.length) ?? '']),
  );
}

/** If the secret cannot be opened, there is no client: it must not be treated as a public one. */
function toClient(
  oauth: StoredOAuth,
  sealed: string | null,
  open: (sealed: string) => string | null,
): VisitorOAuthClient | null {
  if (sealed === null) return { ...oauth, clientSecret: null };
  const clientSecret = open(sealed);
  return clientSecret === null ? null : { ...oauth, clientSecret };
}
