import type { PublicationView } from '@gatehouse/contracts';

/** Whether the address answers. */
export function stateOf(
  { enabled, expires_at: expiresAt }: Pick<PublicationView, 'enabled' | 'expires_at'>,
  now: number,
): 'on' | 'off' | 'expired' {
  if (!enabled) return 'off';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'on';
}
