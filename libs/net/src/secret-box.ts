import { createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes, type KeyObject } from 'node:crypto';

const VERSION = 'v2';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9_-]{8}$/;

/** A sealed text that cannot be opened: it has another key or another place, or was changed. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
  readonly reason: SecretBoxFailure;

  constructor(reason: SecretBoxFailure) {
    super(MESSAGES[reason]);
    this.reason = reason;
  }
}

export type SecretBoxFailure = 'not-sealed' | 'not-openable';

const MESSAGES: Readonly<Record<SecretBoxFailure, string>> = {
  'not-sealed': 'This is not a sealed text.',
  'not-openable': 'The sealed text was made with another GATEHOUSE_SECRET_KEY, or for another place, or was changed.',
};

/**
 * Encrypts texts at rest. Safe for 2^32 texts per key (random nonces, NIST SP 800-38D 8.3).
 *
 * `place` names where the text is kept, such as `user_totp:7`. It is authenticated but not stored, so a sealed text that is
 * copied to another place does not open there. Texts of the first version were sealed without a place and open anywhere.
 */
export interface SecretBox {
  /** `v2.`, the id of the key, and base64url of nonce, tag and ciphertext. */
  seal(text: string, place?: string): string;
  /** Opens a text that was sealed with any of the keys. @throws SecretBoxError */
  open(sealed: string, place?: string): string;
  /** Prefix of texts that were sealed with the newest key. All others must be sealed again after the key was changed. */
  readonly newest: string;
}

/** A row of a table, by its name and its id. */
export interface SealedRow {
  readonly table: string;
  readonly id: number;
}

export function rowPlace({ table, id }: SealedRow): string {
  return `${table}:${id}`;
}

/** Seals a text so that it opens in this row only. */
export function sealForRow(box: SecretBox, row: SealedRow, text: string): string {
  return box.seal(text, rowPlace(row));
}

/** Opens a text of this row, or one of an earlier version, which is bound to its table only. @throws SecretBoxError */
export function openFromRow(box: SecretBox, row: SealedRow, sealed: string): string {
  return openFromPlace(box, { place: rowPlace(row), formerPlace: row.table }, sealed);
}

/** Null where `openFromRow` throws: one such text must not affect others. */
export function tryOpenFromRow(box: SecretBox, row: SealedRow, sealed: string): string | null {
  try {
    return openFromRow(box, row, sealed);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

/** Opens a text of `place`, or one that was sealed for `formerPlace` by an earlier version. @throws SecretBoxError */
export function openFromPlace(
  box: SecretBox,
  { place, formerPlace }: { place: string; formerPlace: string },
  sealed: string,
): string {
  try {
    return box.open(sealed, place);
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    return box.open(sealed, formerPlace);
  }
}

interface BoxKey {
  readonly id: string;
  readonly secret: KeyObject;
}

/**
 * Creates a box with AES-256-GCM.
 * @param keys 32 bytes each, newest first. The newest seals; all of them open.
 * @param former prefix of texts of the previous version
 * @throws RangeError for a key of another length, or no key at all
 */
export function createSecretBox(keys: Buffer | readonly Buffer[], former = 'v1'): SecretBox {
  const known = (Buffer.isBuffer(keys) ? [keys] : keys).map(toBoxKey);
  const [newest] = known;
  if (newest === undefined) throw new RangeError('A box needs a secret key.');
  return {
    newest: `${VERSION}.${newest.id}.`,
    seal: (text, place = '') => seal(newest, text, place),
    open(sealed, place = '') {
      const [version, ...parts] = sealed.split('.');
      const [last = ''] = parts.slice(-1);
      const bytes = Buffer.from(last, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SecretBoxError('not-sealed');
      if (version === former && parts.length === 1) return openFormer(known, bytes, former);
      const [id = ''] = parts;
      if (version !== VERSION || parts.length !== 2 || !KEY_ID.test(id)) {
        throw new SecretBoxError('not-sealed');
      }
      const key = known.find((candidate) => candidate.id === id);
      const text = key && decipher(key, bytes, authenticated(id, place));
      if (text === undefined) throw new SecretBoxError('not-openable');
      return text;
    },
  };
}

/** Identifies a key without revealing anything about it. */
export function secretKeyId(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('gatehouse secret key id'), key]), 'base64url').slice(0, 8);
}

function toBoxKey(key: Buffer): BoxKey {
  if (key.length !== 32) throw new RangeError(`A secret key has 32 bytes, this one has ${key.length}.`);
  return { id: secretKeyId(key), secret: createSecretKey(key) };
}

function authenticated(id: string, place: string): string {
  return `${VERSION}.${id}.${place}`;
}

function seal({ id, secret }: BoxKey, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(authenticated(id, place)));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${id}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
}

function openFormer(keys: readonly BoxKey[], bytes: Buffer, former: string): string {
  for (const key of keys) {
    const text = decipher(key, bytes, former);
    if (text !== undefined) return text;
  }
  throw new SecretBoxError('not-openable');
}

function decipher({ secret }: BoxKey, bytes: Buffer, associated: string): string | undefined {
  const opening = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  opening.setAAD(Buffer.from(associated));
  opening.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = opening.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([text, opening.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
