import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** What a row's hash is taken over; the hash of the row before included. */
export type SealedFields = Readonly<Record<string, unknown>>;

/** Where the chain begins and ends. */
export interface ChainHead {
  firstId: number;
  /** Hash of the last row that retention removed; empty while it has removed none. */
  anchorHash: string;
  lastId: number;
  lastHash: string;
}

/**
 * Makes the hashes of the log. They are keyed: an attacker who can write to the database, but does not hold the
 * service's secret key, cannot make the chain fit what they changed.
 */
export class AuditChain {
  readonly #key: KeyObject;

  /** @param key 32 bytes. */
  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  hashRow(fields: SealedFields): string {
    return this.#seal('row', fields);
  }

  hashHead(head: ChainHead): string {
    return this.#seal('head', { ...head });
  }

  #seal(kind: string, fields: SealedFields): string {
    return createHmac('sha256', this.#key)
      .update(`${kind}\n${canonicalJson(fields)}`)
      .digest('hex');
  }
}

/** One text for one value, whatever order its fields came in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${fields.join(',')}}`;
}
