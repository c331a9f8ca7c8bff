import { parseIp } from '@gatehouse/net';
import type { Accept } from './accept.js';
import { type PrefixEntry, PrefixTable } from './prefix-table.js';

/** The prefixes of both families. */
export class AddressTable {
  readonly #v4: PrefixTable;
  readonly #v6: PrefixTable;
  readonly #first: number;

  /** @param entries in rule order. */
  constructor(entries: readonly PrefixEntry[]) {
    this.#v4 = new PrefixTable(
      1,
      entries.filter((entry) => entry.cidr.family === 4),
    );
    this.#v6 = new PrefixTable(
      4,
      entries.filter((entry) => entry.cidr.family === 6),
    );
    this.#first = entries[0]?.rule ?? Infinity;
  }

  find(address: string, from: number, to: number, accept: Accept): number {
    if (this.#first >= to) return to;
    const ip = parseIp(address);
    if (ip === null) return to;
    return (ip.family === 4 ? this.#v4 : this.#v6).find(ip.words, from, to, accept);
  }

  get bytes(): number {
    return this.#v4.bytes + this.#v6.bytes;
  }
}
