import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const MIN_SECRET_BYTES = 32;
const NUMBER_BYTES = 6;
const NONCE_BYTES = 16;
const PAYLOAD_BYTES = 3 * NUMBER_BYTES + NONCE_BYTES;
const PROOF = /^[A-Za-z0-9_-]{46}\.[A-Za-z0-9_-]{43}$/;

/** The policy that a proof is for; proofs of other versions are invalid. */
export interface ProvenPolicy {
  readonly id: number;
  readonly version: number;
}

export interface Proof {
  text: string;
  /** A unique id of this proof. */
  nonce: string;
}

/**
 * Issues and checks proofs: base64url of policy, expiry, version and nonce, with an HMAC. The purpose of a proof
 * (`context`) is only in the HMAC, so a proof is invalid anywhere else.
 */
export class ProofSigner {
  private readonly key: Buffer;
  /** The signing key, followed by former ones. */
  private readonly keys: readonly Buffer[];
  private readonly now: () => number;

  /**
   * Signs with `secret`; proofs signed with one of `formerSecrets` are valid, too. @throws RangeError for a secret
   * under 32 bytes: guessing it would grant access everywhere.
   */
  constructor(secret: Uint8Array, now: () => number, formerSecrets: readonly Uint8Array[] = []) {
    this.key = keyOf(secret);
    this.keys = [this.key, ...formerSecrets.map(keyOf)];
    this.now = now;
  }

  sign(policy: ProvenPolicy, context: string, ttlSeconds: number): Proof {
    const payload = Buffer.alloc(PAYLOAD_BYTES);
    payload.writeUIntBE(policy.id, 0, NUMBER_BYTES);
    payload.writeUIntBE(Math.floor(this.now() / 1000) + ttlSeconds, NUMBER_BYTES, NUMBER_BYTES);
    payload.writeUIntBE(policy.version, 2 * NUMBER_BYTES, NUMBER_BYTES);
    randomBytes(NONCE_BYTES).copy(payload, 3 * NUMBER_BYTES);
    const text = payload.toString('base64url');
    return { text: `${text}.${this.mac(context, text)}`, nonce: nonceOf(payload) };
  }

  /** The nonce of a proof that is valid for this policy and context; otherwise null. */
  read(proof: string, policy: ProvenPolicy, context: string): string | null {
    if (!PROOF.test(proof)) return null;
    const [text = '', mac = ''] = proof.split('.');
    // Compared as text, so that a proof has only one spelling.
    const given = Buffer.from(mac);
    if (!this.keys.some((key) => timingSafeEqual(given, Buffer.from(macOf(key, context, text))))) return null;
    const payload = Buffer.from(text, 'base64url');
    const [id, end, version] = [0, 1, 2].map((at) => payload.readUIntBE(at * NUMBER_BYTES, NUMBER_BYTES));
    if (id !== policy.id || version !== policy.version || (end ?? 0) * 1000 <= this.now()) return null;
    return nonceOf(payload);
  }

  /** A short text that identifies the input without revealing it. */
  digest(purpose: string, input: string): string {
    return this.mac(`digest\0${purpose}`, input);
  }

  private mac(context: string, text: string): string {
    return macOf(this.key, context, text);
  }
}

function keyOf(secret: Uint8Array): Buffer {
  if (secret.byteLength < MIN_SECRET_BYTES) throw new RangeError(`the secret needs ${MIN_SECRET_BYTES} bytes`);
  return Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse tunnel visitors', 32));
}

function macOf(key: Buffer, context: string, text: string): string {
  const length = Buffer.byteLength(context);
  return createHmac('sha256', key).update(`${length}\0`).update(context).update(text).digest('base64url');
}

function nonceOf(payload: Buffer): string {
  return payload.toString('base64url', 3 * NUMBER_BYTES);
}
