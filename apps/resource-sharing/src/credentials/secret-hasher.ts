import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { createApiKey, parseApiKey } from '@gatehouse/auth';
import { createSecretBox, type SecretBox } from '@gatehouse/persistence';

/** The prefix of each kind of secret of the open API. */
export const SECRET_PREFIX = {
  application: 'hk_',
  personal: 'hp_',
  test: 'ht_',
  access: 'hat_',
  refresh: 'hrt_',
  code: 'hac_',
  device: 'hdc_',
} as const;
export type SecretKind = keyof typeof SECRET_PREFIX;

export interface NewSecret {
  /** Readable only at this moment. */
  readonly text: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

export interface HasherKeys {
  pepper: Buffer;
  /** Separates boxes of this service from those of another. */
  successorSalt: Buffer;
}

/** Data keys, and the keys from which they were derived before they were rows. */
export const HASHER_PURPOSES = {
  pepper: 'gatehouse resource-sharing credentials',
  successorSalt: 'gatehouse resource-sharing successors',
} as const satisfies Record<keyof HasherKeys, string>;

/**
 * Creates secrets and the hashes under which they are stored: HMAC-SHA-256 with a pepper that is not in the database.
 * The secrets have 256 random bits, so nothing slower is needed.
 */
export class SecretHasher {
  private readonly pepper: KeyObject;
  private readonly successorSalt: Buffer;

  /** 32 bytes each, equal on every replica and permanent, because hashes cannot be computed again. */
  constructor({ pepper, successorSalt }: HasherKeys) {
    this.pepper = createSecretKey(pepper);
    this.successorSalt = successorSalt;
  }

  create(kind: SecretKind): NewSecret {
    const prefix = SECRET_PREFIX[kind];
    const text = createApiKey(prefix);
    return { text, hash: this.hash(text), prefix, lastFour: text.slice(-4) };
  }

  /** The hash of a secret of that kind; undefined for a text that cannot be one, which needs no lookup. */
  parse(kind: SecretKind, text: string): Buffer | undefined {
    return parseApiKey(text, SECRET_PREFIX[kind]) === undefined ? undefined : this.hash(text);
  }

  /** The hash of a code that people type: short, so that only the pepper keeps it from being guessed. */
  hashUserCode(code: string): Buffer {
    return this.hash(`user code ${code}`);
  }

  /**
   * Seals a text that only the holder of `secret` can read again: the database and the key of this service are not
   * enough.
   */
  boxOf(secret: string): SecretBox {
    return createSecretBox(derive(Buffer.from(secret), this.successorSalt, 'successor'));
  }

  private hash(text: string): Buffer {
    return createHmac('sha256', this.pepper).update(text).digest();
  }
}

/** The hasher of a service that has only ever had one secret key. */
export function hasherFor(secretKey: Buffer): SecretHasher {
  const { pepper, successorSalt } = HASHER_PURPOSES;
  return new SecretHasher({
    pepper: derive(secretKey, '', pepper),
    successorSalt: derive(secretKey, '', successorSalt),
  });
}

/** RFC 5869. */
function derive(key: Buffer, salt: Buffer | string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, purpose, 32));
}
