import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { createApiKey, parseApiKey } from '@gatehouse/auth';
import { createSecretBox, type SecretBox } from '@gatehouse/persistence';

/** What each secret of the open API begins with. */
export const SECRET_PREFIX = {
  application: 'hk_',
  personal: 'hp_',
  access: 'hat_',
  refresh: 'hrt_',
  code: 'hac_',
} as const;
export type SecretKind = keyof typeof SECRET_PREFIX;

export interface NewSecret {
  /** Readable only now. */
  readonly text: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly lastFour: string;
}

export interface HasherKeys {
  pepper: Buffer;
  /** Keeps boxes of this service apart from those of another. */
  successorSalt: Buffer;
}

/** Data keys, and what they were derived with before they were rows. */
export const HASHER_PURPOSES = {
  pepper: 'gatehouse resource-sharing credentials',
  successorSalt: 'gatehouse resource-sharing successors',
} as const satisfies Record<keyof HasherKeys, string>;

/**
 * Makes secrets and the hashes under which they are stored: HMAC-SHA-256 with a pepper that is not in the database.
 * The secrets have 256 random bits, so nothing slower is needed.
 */
export class SecretHasher {
  private readonly pepper: KeyObject;
  private readonly successorSalt: Buffer;

  /** 32 bytes each, the same on every replica, and for good: hashes cannot be made again. */
  constructor({ pepper, successorSalt }: HasherKeys) {
    this.pepper = createSecretKey(pepper);
    this.successorSalt = successorSalt;
  }

  create(kind: SecretKind): NewSecret {
    const prefix = SECRET_PREFIX[kind];
    const text = createApiKey(prefix);
    return { text, hash: this.hash(text), prefix, lastFour: text.slice(-4) };
  }

  /** The hash of a secret of that kind; undefined for a text that cannot be one, found out without a lookup. */
  parse(kind: SecretKind, text: string): Buffer | undefined {
    return parseApiKey(text, SECRET_PREFIX[kind]) === undefined ? undefined : this.hash(text);
  }

  /** Seals what only the holder of `secret` may read again: the database and the key of this service do not suffice. */
  boxOf(secret: string): SecretBox {
    return createSecretBox(derive(Buffer.from(secret), this.successorSalt, 'successor'));
  }

  private hash(text: string): Buffer {
    return createHmac('sha256', this.pepper).update(text).digest();
  }
}

/** The hasher of a service that has had one secret key only. */
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
