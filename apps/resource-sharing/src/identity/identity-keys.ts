import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SECRET_BOX, UnitOfWork, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { JWK } from 'jose';
import type { EntityManager } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';
import { identityKeyPlace, storeIdentityKey } from './new-identity-key.js';

/** Lifetime of an id_token in seconds. */
export const ID_TOKEN_SECONDS = 3_600;
/** How long a replica uses what it has read; the public addresses allow others the same. */
export const PUBLISHED_SECONDS = 300;
const CACHE_MS = 30_000;
/** A replaced key stays for everything that it has signed, and for clocks and caches that are behind. */
const KEPT_SECONDS = ID_TOKEN_SECONDS + 2 * PUBLISHED_SECONDS;
const REPLACED_AFTER_DAYS = 90;

// Not now(), which is the start of the transaction: a replica that waited for another one's first key may have begun before it.
const KEYS = `SELECT kid, sealed_key, public_jwk, signs_from <= clock_timestamp() AS signs, replaced_at
  FROM (SELECT *, lead(signs_from) OVER (ORDER BY signs_from, kid) AS replaced_at FROM identity_keys) AS keys`;
const PUBLISHED = `${KEYS} WHERE replaced_at IS NULL OR replaced_at > now() - make_interval(secs => $1)
  ORDER BY signs_from DESC, kid DESC`;

interface KeyRow {
  readonly kid: string;
  readonly sealed_key: string;
  readonly public_jwk: JWK;
  /** False as long as others may not have read it. */
  readonly signs: boolean;
}

export interface IdentityKey {
  readonly kid: string;
  readonly key: KeyObject;
}

interface Loaded {
  readonly published: readonly JWK[];
  readonly signing: IdentityKey;
}

/**
 * The keys that sign id_tokens, the same on every replica: rows of identity_keys, sealed with the secret key. A new one
 * replaces the last after 90 days; it is published before it signs, and the last one until nothing that it has signed is
 * valid.
 */
@Injectable()
export class IdentityKeys {
  private loaded: Promise<Loaded> | undefined;
  private loadedAt = -Infinity;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  async signing(): Promise<IdentityKey> {
    return (await this.current()).signing;
  }

  /** For anybody: without private parts, newest first. */
  async published(): Promise<readonly JWK[]> {
    return (await this.current()).published;
  }

  /** Makes the next key if the newest is old, and removes those that nobody needs. Several replicas may do it at once. */
  async tidy(): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await lock(tx);
      const due = `SELECT max(signs_from) < now() - make_interval(days => $1) AS due FROM identity_keys`;
      const [row] = await rowsOf<{ due: boolean | null }>(tx, due, [REPLACED_AFTER_DAYS]);
      if (row?.due === true) await storeIdentityKey(tx, this.box);
      await tx.query(
        `DELETE FROM identity_keys WHERE kid IN (
           SELECT kid FROM (${KEYS}) AS old WHERE replaced_at <= now() - make_interval(secs => $1))`,
        [KEPT_SECONDS],
      );
    });
  }

  private current(): Promise<Loaded> {
    if (this.loaded === undefined || performance.now() - this.loadedAt > CACHE_MS) {
      this.loadedAt = performance.now();
      const loading = this.load();
      this.loaded = loading;
      loading.catch(() => {
        if (this.loaded === loading) this.loaded = undefined;
      });
    }
    return this.loaded;
  }

  private async load(): Promise<Loaded> {
    const rows = await this.unitOfWork.run(async (tx) => {
      const found = await readKeys(tx);
      if (found.length > 0) return found;
      await lock(tx);
      // Another replica may have been faster.
      if ((await readKeys(tx)).length === 0) await storeIdentityKey(tx, this.box);
      return readKeys(tx);
    });
    const current = rows.find(({ signs }) => signs);
    if (current === undefined) throw new Error('No key signs id_tokens.');
    const { kid, sealed_key: sealed } = current;
    const key = createPrivateKey(this.box.open(sealed, identityKeyPlace(kid)));
    return { published: rows.map((row) => row.public_jwk), signing: { kid, key } };
  }
}

function readKeys(tx: EntityManager): Promise<KeyRow[]> {
  return rowsOf<KeyRow>(tx, PUBLISHED, [KEPT_SECONDS]);
}

async function lock(tx: EntityManager): Promise<void> {
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('gatehouse.identity-keys'))");
}
