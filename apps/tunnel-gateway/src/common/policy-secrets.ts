import { hkdfSync } from 'node:crypto';
import { SecretBoxError, type SecretBox } from '@gatehouse/net';
import { createKeyBox, openKept, policyPlace, splitKeys } from './key-box.js';

/** `visitorSecret`: from `joinKeys`. */
export function policyBoxOf(visitorSecret: string): SecretBox {
  const derive = (key: Buffer): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'tunnel-gateway policy secrets', 32));
  return createKeyBox(splitKeys(visitorSecret).map(derive));
}

/** Seals and opens secrets of policies, such as those of OAuth clients: the service seals, edges open. */
export class PolicySecrets {
  private readonly box: SecretBox;

  /**
   * `visitorSecret`: from `joinKeys`, as edges get it. It reveals nothing about the key that seals the rest of the
   * database.
   */
  constructor(visitorSecret: string) {
    this.box = policyBoxOf(visitorSecret);
  }

  seal(policyId: number, text: string): string {
    return this.box.seal(text, policyPlace(policyId));
  }

  /** Null: it was sealed with another key or for another policy, or was changed. */
  open(policyId: number, sealed: string): string | null {
    try {
      return openKept(this.box, policyPlace(policyId), sealed);
    } catch (error) {
      if (error instanceof SecretBoxError) return null;
      throw error;
    }
  }
}
