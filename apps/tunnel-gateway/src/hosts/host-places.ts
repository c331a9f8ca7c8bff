import { AppError } from '@gatehouse/platform';
import type { EntityManager } from 'typeorm';
import type { HostScheme } from './host.entity.js';

export interface HostPlace {
  host: string;
  location: string;
  scheme: HostScheme;
  /** The host itself; null: a new one. */
  id: number | null;
}

/** One change of names at a time: what is free when it is looked at is free when it is taken. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.hosts'))`;

/** Anybody's: a name leads to one place. Schemes are apart only where one is http and the other https. */
const TAKEN = `
  SELECT 1 FROM tunnel_gateway.hosts
  WHERE host = $1 AND coalesce(location, '/') = $2 AND id <> $4
    AND (coalesce(scheme, 'all') IN ('all', $3) OR $3 = 'all') LIMIT 1`;

/** Nobody else gets the place before the transaction ends. @throws AppError HOST_CONFLICT */
export async function claimPlace({ host, location, scheme, id }: HostPlace, tx: EntityManager): Promise<void> {
  await tx.query(LOCK);
  const taken = (await tx.query(TAKEN, [host, location, scheme, id ?? 0])) as unknown[];
  if (taken.length > 0) throw new AppError('HOST_CONFLICT', `host: another host has ${host}${location}`);
}
