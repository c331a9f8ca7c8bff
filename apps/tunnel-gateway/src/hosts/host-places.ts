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
  /** The required owner of the name; null: an administrator decides, or the name does not change. */
  ownerId: number | null;
  /** Whether a domain of the owner covers the name: wildcards of others above it are then ignored. */
  isOwned: boolean;
}

/** Over all users: a name leads to one place. Two schemes may only share it if one is http and the other https. */
const TAKEN = `
  SELECT 1 FROM tunnel_gateway.hosts
  WHERE host = $1 AND coalesce(location, '/') = $2 AND id <> $4
    AND (coalesce(scheme, 'all') IN ('all', $3) OR $3 = 'all') LIMIT 1`;

/**
 * Protects the visitors of others: a location of another user's name would get their cookies, and a name below another
 * user's `*.name`, or a `*.name` above another user's, would get their requests. Hosts of administrators for all names
 * do not reserve names.
 */
const SOMEBODY_ELSES = `
  SELECT 1 FROM tunnel_gateway.hosts h
    JOIN tunnel_gateway.clients c ON c.id = h.client_id JOIN tunnel_gateway.users u ON u.id = c.owner_user_id
  WHERE c.owner_user_id <> $2
    AND (h.host = $1
      OR (h.host LIKE '*.%' AND NOT $3 AND u.role <> 'admin' AND right($1, length(h.host) - 1) = substr(h.host, 2))
      OR ($1 LIKE '*.%' AND right(h.host, length($1) - 1) = substr($1, 2)))
  LIMIT 1`;

/** Reserves the place until the transaction ends. @throws AppError HOST_CONFLICT */
export async function claimPlace(place: HostPlace, tx: EntityManager): Promise<void> {
  const { host, location, scheme, id, ownerId, isOwned } = place;
  await lockNames(tx);
  const elses = ownerId === null ? [] : ((await tx.query(SOMEBODY_ELSES, [host, ownerId, isOwned])) as unknown[]);
  if (elses.length > 0) throw new AppError('HOST_CONFLICT', `host: ${host} belongs to another user`);
  const taken = (await tx.query(TAKEN, [host, location, scheme, id ?? 0])) as unknown[];
  if (taken.length > 0) throw new AppError('HOST_CONFLICT', `host: another host has ${host}${location}`);
}
