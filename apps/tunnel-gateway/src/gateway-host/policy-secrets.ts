import { hkdfSync } from 'node:crypto';
import { KeyBox } from '../certificates/key-box.js';

/** Secrets of policies, such as a client's at an authorization server: the service seals, edges open. */
export class PolicySecrets {
  private readonly box: KeyBox;

  /** `visitorSecret`: base64, what edges are told. It says nothing about the key that seals the rest of the database. */
  constructor(visitorSecret: string) {
    const secret = Buffer.from(visitorSecret, 'base64');
    this.box = new KeyBox(Buffer.from(hkdfSync('sha256', secret, '', 'tunnel-gateway policy secrets', 32)));
  }

  seal(text: string): string {
    return this.box.seal(text);
  }

  /** Null: it was sealed with another key, or changed. */
  open(sealed: string): string | null {
    try {
      return this.box.open(sealed);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}
