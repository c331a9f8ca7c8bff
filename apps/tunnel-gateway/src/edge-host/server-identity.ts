import { readFile } from 'node:fs/promises';
import { writePrivately } from '@gatehouse/net';
import type { SecretBox } from '@gatehouse/persistence';
import {
  certificateFingerprint,
  createServerIdentity,
  type FormerIdentity,
  type ServerIdentity,
} from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';

export interface IdentitySources {
  queries: Queries;
  box: SecretBox;
  /** Copy for a start without the database, also sealed. */
  file: string;
}

interface SealedIdentity {
  certificate: string;
  sealed_key: string;
  /** The next certificate. */
  next_certificate?: string | null;
  former?: SealedFormer | null;
}

/** The key before this one. */
interface SealedFormer {
  certificate: string;
  sealed_key: string;
  /** Milliseconds since the epoch. */
  until: number;
}

export interface KnownIdentity extends ServerIdentity {
  /** Fingerprint in the keys of agents. */
  fingerprint: string;
  /** Fingerprint of the key that will replace it; undefined: there is none. */
  nextFingerprint?: string | undefined;
  /** Shown to agents that know no other key. */
  former?: FormerIdentity | undefined;
}

export interface IdentityStatus {
  current: string;
  next: string | null;
  former: { fingerprint: string; until: Date } | null;
}

export const SERVER_IDENTITY_PLACE = 'server_identity';

/** If several processes start at once, the first identity is kept. */
const KEEP_FIRST = `
  INSERT INTO tunnel_gateway_ops.server_identity (id, certificate, sealed_key) VALUES (1, $1, $2)
  ON CONFLICT (id) DO NOTHING`;
const READ = `
  SELECT certificate, sealed_key,
    (SELECT certificate FROM tunnel_gateway_ops.server_identity WHERE id = 2) AS next_certificate,
    (SELECT json_build_object('certificate', certificate, 'sealed_key', sealed_key,
        'until', floor(extract(epoch FROM served_until) * 1000))
      FROM tunnel_gateway_ops.server_identity WHERE id = 3 AND served_until > now()) AS former
  FROM tunnel_gateway_ops.server_identity WHERE id = 1`;
const PREPARE = `
  INSERT INTO tunnel_gateway_ops.server_identity (id, certificate, sealed_key) VALUES (2, $1, $2)
  ON CONFLICT (id) DO NOTHING`;
/** One statement, so that there is a key at any moment. All its parts see the rows as they were before. */
const EXCHANGE = `
  WITH next AS (DELETE FROM tunnel_gateway_ops.server_identity WHERE id = 2 RETURNING certificate, sealed_key),
  former AS (
    INSERT INTO tunnel_gateway_ops.server_identity (id, certificate, sealed_key, served_until)
    SELECT 3, one.certificate, one.sealed_key, now() + make_interval(days => $1)
    FROM tunnel_gateway_ops.server_identity one, next WHERE one.id = 1 AND $1 > 0
    ON CONFLICT (id) DO UPDATE SET certificate = EXCLUDED.certificate, sealed_key = EXCLUDED.sealed_key,
      created_at = now(), served_until = EXCLUDED.served_until
  )
  UPDATE tunnel_gateway_ops.server_identity one
  SET certificate = next.certificate, sealed_key = next.sealed_key, created_at = now() FROM next WHERE one.id = 1
  RETURNING one.certificate`;
/** Removes an expired key. */
const SWEEP = 'DELETE FROM tunnel_gateway_ops.server_identity WHERE id = 3 AND served_until <= now()';
const RETIRE = 'DELETE FROM tunnel_gateway_ops.server_identity WHERE id = 3 RETURNING certificate';

/**
 * The key that agents identify the gateway by: created once, sealed in the database, and copied to a file for times
 * without it. @throws SecretBoxError with another GATEHOUSE_SECRET_KEY; the database's error when there is no file
 * either.
 */
export async function loadServerIdentity(sources: IdentitySources): Promise<KnownIdentity> {
  const { box, file } = sources;
  const sealed = await readOrMake(sources).catch(async (error: unknown) => {
    const kept = await readKept(file);
    if (kept) return kept;
    throw error;
  });
  await writePrivately(file, JSON.stringify(sealed));
  const { certificate, next_certificate: next, former } = sealed;
  return {
    certificate,
    ...(next && { nextFingerprint: certificateFingerprint(next) }),
    ...(former && {
      former: {
        certificate: former.certificate,
        key: box.open(former.sealed_key, SERVER_IDENTITY_PLACE),
        until: former.until,
      },
    }),
    key: box.open(sealed.sealed_key, SERVER_IDENTITY_PLACE),
    fingerprint: certificateFingerprint(certificate),
  };
}

/** Creates the next key, unless there is one; returns the fingerprints of both. */
export async function prepareIdentity(
  sources: Omit<IdentitySources, 'file'>,
): Promise<[current: string, next: string]> {
  const { key, certificate } = createServerIdentity();
  await sources.queries.query(PREPARE, [certificate, sources.box.seal(key, SERVER_IDENTITY_PLACE)]);
  const { certificate: current, next_certificate: next } = await readOrMake(sources);
  if (!next) throw new Error('The next identity of the gateway was not kept.');
  return [certificateFingerprint(current), certificateFingerprint(next)];
}

/**
 * Makes the next key the current one. The old key is shown for `formerDays` to agents that know no other. Returns the
 * fingerprint of the current key. Null: no key was prepared.
 */
export async function exchangeIdentity(
  { queries }: Pick<IdentitySources, 'queries'>,
  formerDays: number,
): Promise<string | null> {
  const { rows } = await queries.query<{ certificate: string }>(EXCHANGE, [formerDays]);
  return rows[0] ? certificateFingerprint(rows[0].certificate) : null;
}

/** Ends the use of the former key. Returns its fingerprint; null: there was none. */
export async function retireFormerIdentity({ queries }: Pick<IdentitySources, 'queries'>): Promise<string | null> {
  const { rows } = await queries.query<{ certificate: string }>(RETIRE);
  return rows[0] ? certificateFingerprint(rows[0].certificate) : null;
}

/** Fingerprints of all keys. Null: the gateway has not been started yet. */
export async function identityStatus({ queries }: Pick<IdentitySources, 'queries'>): Promise<IdentityStatus | null> {
  const [row] = (await queries.query<SealedIdentity>(READ)).rows;
  if (!row) return null;
  const { certificate, next_certificate: next, former } = row;
  return {
    current: certificateFingerprint(certificate),
    next: next ? certificateFingerprint(next) : null,
    former: former ? { fingerprint: certificateFingerprint(former.certificate), until: new Date(former.until) } : null,
  };
}

async function readOrMake({ queries, box }: Omit<IdentitySources, 'file'>): Promise<SealedIdentity> {
  await queries.query(SWEEP);
  const known = await queries.query<SealedIdentity>(READ);
  if (known.rows[0]) return known.rows[0];
  const { key, certificate } = createServerIdentity();
  await queries.query(KEEP_FIRST, [certificate, box.seal(key, SERVER_IDENTITY_PLACE)]);
  const made = await queries.query<SealedIdentity>(READ);
  if (!made.rows[0]) throw new Error('The identity of the gateway was not kept.');
  return made.rows[0];
}

async function readKept(file: string): Promise<SealedIdentity | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as SealedIdentity;
  } catch {
    return null;
  }
}
