import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text that cannot be opened: another key, or changed since. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/** Encrypts texts at rest. Safe for 2^32 texts per key (random nonces, NIST SP 800-38D 8.3). */
export interface SecretBox {
  /** `v1.` and base64url of nonce, tag and ciphertext. */
  seal(text: string): string;
  /** Raises SecretBoxError. */
  open(sealed: string): string;
}

/** A box of AES-256-GCM; the key has 32 bytes. */
export function createSecretBox(key: Buffer): SecretBox {
  if (key.length !== 32) throw new RangeError(`A secret key has 32 bytes, this one has ${key.length}.`);
  const secret = createSecretKey(key);
  return {
    seal(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(VERSION));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    open(sealed) {
      const [version, encoded, ...rest] = sealed.split('.');
      const bytes = Buffer.from(encoded ?? '', 'base64url');
      if (version !== VERSION || rest.length > 0 || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new SecretBoxError('This is not a sealed text.');
      }
      const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(VERSION));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SecretBoxError('The sealed text was made with another GATEHOUSE_SECRET_KEY, or was changed.', {
          cause,
        });
      }
    },
  };
}
