import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';

const VERSION = 'c1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The key that seals the keys of certificates: of its own, so that the data plane is told this one and no other. */
export function certificateSecret(secretKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'tunnel-gateway certificates', 32));
}

/**
 * Seals keys of certificates with AES-256-GCM. Not the box of the persistence library: the data plane opens them too, and
 * it does without that library and what it brings along.
 */
export class KeyBox {
  private readonly secret: KeyObject;

  /** `secret`: 32 bytes. */
  constructor(secret: Buffer) {
    this.secret = createSecretKey(secret);
  }

  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.secret, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(VERSION));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
  }

  /** @throws RangeError for what another key sealed, or what was changed. */
  open(sealed: string): string {
    const [version, encoded = ''] = sealed.split('.');
    const bytes = Buffer.from(encoded, 'base64url');
    if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) throw new RangeError('This is no sealed key.');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.secret, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(VERSION));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new RangeError('The key was sealed with another GATEHOUSE_SECRET_KEY, or was changed.', { cause });
    }
  }
}
