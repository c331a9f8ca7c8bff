import { hkdfSync } from 'node:crypto';
import { SecretBoxError, type SecretBox } from '@gatehouse/net';
import { createKeyBox, openKept, policyPlace, splitKeys } from './key-box.js';

/** `visitorSecret`: of `joinKeys`. */
export function policyBoxOf(visitorSecret: string): SecretBox {
  const derive = (key: Buffer): Buffer => Buffer.from(hkdfSync('sha256', key, '', 'tunnel-gateway policy secrets', 32));
  return createKeyBox(splitKeys(visitorSecret).map(derive));
}

/** Secrets of policies, such as a client's at an authorization server: the service seals, edges open. */
export class PolicySecrets {
  private readonly box: SecretBox;

  /** `visitorSecret`: of `joinKeys`, what edges get. It says nothing about the key that seals the rest of the database. */
  constructor(visitorSecret: string) {
    this.box = policyBoxOf(visitorSecret);
  }

  seal(policyId: number, text: string): string {
    return this.box.seal(text, policyPlace(policyId));
  }

  /** Null: it was sealed with another key or for another policy, or changed. */
  open(policyId: number, sealed: string): string | null {
    try {
      return openKept(this.box, policyPlace(policyId), sealed);
    } catch (error) {
      if (error instanceof SecretBoxError) return null;
      throw error;
    }
  }
}
