import { networkOf } from '@gatehouse/platform';
import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';

/** For how long an address stays known after the last sign-in from it. */
export const NETWORK_DAYS = 180;
const MAX_NETWORKS = 100;

/**
 * Remembers from where an account signs in, in the transaction that opens the session. A new address makes an event; the
 * first of an account does not. Addresses of one /64 of IPv6 are one: browsers change theirs every day.
 */
export async function noteSignIn(tx: EntityManager, userId: number, ip: string): Promise<void> {
  const network = networkOf(ip);
  const known = await rowsOf<{ network: string }>(tx, 'SELECT network FROM sign_in_networks WHERE user_id = $1', [
    userId,
  ]);
  await tx.query(
    `INSERT INTO sign_in_networks (user_id, network) VALUES ($1, $2)
     ON CONFLICT (user_id, network) DO UPDATE SET last_used_at = now()`,
    [userId, network],
  );
  if (known.length === 0 || known.some((row) => row.network === network)) return;
  await recordEvent(tx, { type: 'user.new_sign_in_address', userId, ip });
  await tx.query(
    `DELETE FROM sign_in_networks WHERE user_id = $1 AND network NOT IN
       (SELECT network FROM sign_in_networks WHERE user_id = $1 ORDER BY last_used_at DESC LIMIT $2)`,
    [userId, MAX_NETWORKS],
  );
}
