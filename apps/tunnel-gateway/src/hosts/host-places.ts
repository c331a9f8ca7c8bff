import { AppError } from '@gatehouse/platform';
import type { EntityManager } from 'typeorm';
import { lockNames } from '../domains/lock-names.js';
import type { HostScheme } from '../data/host.entity.js';

export interface HostPlace {
  host: string;
  location: string;
  scheme: HostScheme;
  /** The host itself; null: a new one. */
  id: number | null;
  /** Whose name it has to be; null: an administrator says so, or the name is not new. */
  ownerId: number | null;
  /** Whether a domain of the owner covers the name: then wildcards of others above it do not count. */
  isOwned: boolean;
}

/** Anybody's: a name leads to one place. Schemes are apart only where one is http and the other https. */
const TAKEN = `
  SELECT 1 FROM tunnel_gateway.hosts
  WHERE host = $1 AND coalesce(location, '/') = $2 AND id <> $4
    AND (coalesce(scheme, 'all') IN ('all', $3) OR $3 = 'all') LIMIT 1`;

/**
 * A location of somebody else's name would get their visitors' cookies; a name below somebody else's `*.name`, or a `*.name`
 * above somebody else's, would get their visitors. What administrators have for all names leaves the names to be had.
 */
const SOMEBODY_ELSES = `
  SELECT 1 FROM tunnel_gateway.hosts h
    JOIN tunnel_gateway.clients c ON c.id = h.client_id JOIN tunnel_gateway.users u ON u.id = c.owner_user_id
  WHERE c.owner_user_id <> $2
    AND (h.host = $1
      OR (h.host LIKE '*.%' AND NOT $3 AND u.role <> 'admin' AND right($1, length(h.host) - 1) = substr(h.host, 2))
      OR ($1 LIKE '*.%' AND right(h.host, length($1) - 1) = substr($1, 2)))
  LIMIT 1`;

/** Nobody else gets the place before the transaction ends. @throws AppError HOST_CONFLICT */
export async function claimPlace(place: HostPlace, tx: EntityManager): Promise<void> {
  const { host, location, scheme, id, ownerId, isOwned } = place;
  await lockNames(tx);
  const elses = ownerId === null ? [] : ((await tx.query(SOMEBODY_ELSES, [host, ownerId, isOwned])) as unknown[]);
  if (elses.length > 0) throw new AppError('HOST_CONFLICT', `host: ${host} belongs to somebody else`);
  const taken = (await tx.query(TAKEN, [host, location, scheme, id ?? 0])) as unknown[];
  if (taken.length > 0) throw new AppError('HOST_CONFLICT', `host: another host has ${host}${location}`);
}
