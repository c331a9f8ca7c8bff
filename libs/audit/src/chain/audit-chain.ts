import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Input of a row's hash, including the hash of the previous row. */
export type SealedFields = Readonly<Record<string, unknown>>;

/** The two ends of the chain. */
export interface ChainHead {
  firstId: number;
  /** Hash of the last row that retention deleted; empty if it has deleted none. */
  anchorHash: string;
  lastId: number;
  lastHash: string;
}

/**
 * Computes the hashes of the log. They are keyed: an attacker who can write to the database, but does not have the
 * service's secret key, cannot adapt the chain to a change.
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

/** The same text for equal values, whatever the order of their fields. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonicalJson(item)}`);
  return `{${fields.join(',')}}`;
}
