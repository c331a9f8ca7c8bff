import type { Cidr, IpAddress } from '@gatehouse/net';
import { GeoDatabaseError } from './geo-database-error.js';
import type { GeoDatabaseMetadata } from './metadata.js';

/** Zero bytes between the tree and the data section; a record that points into them points nowhere. */
const SEPARATOR = 16;
const NOT_FOUND = -1;

/** The binary tree over address bits. Each node has two records: another node, nothing, or an offset into the data section. */
export class SearchTree {
  /** Length in bytes, the separator included: where the data section begins. */
  readonly length: number;
  readonly #view: DataView;
  readonly #nodeCount: number;
  readonly #recordSize: number;
  readonly #ipVersion: 4 | 6;
  /** Where IPv4 begins in a tree of IPv6: behind 96 zero bits. */
  readonly #ipv4Start: number;

  /** @throws GeoDatabaseError when the tree does not fit before `end`. */
  constructor(file: Buffer, metadata: GeoDatabaseMetadata, end: number) {
    this.#view = new DataView(file.buffer, file.byteOffset, file.length);
    this.#nodeCount = metadata.nodeCount;
    this.#recordSize = metadata.recordSize;
    this.#ipVersion = metadata.ipVersion;
    this.length = (metadata.nodeCount * metadata.recordSize) / 4 + SEPARATOR;
    if (this.length > end) throw new GeoDatabaseError('more nodes than the file has room for');
    this.#ipv4Start = metadata.ipVersion === 6 ? this.#descend(0, [0, 0, 0]) : 0;
  }

  /** Offset into the data section; -1 when the address has no data. */
  find(address: IpAddress): number {
    if (address.family === 6 && this.#ipVersion === 4) return NOT_FOUND;
    const start = address.family === 4 ? this.#ipv4Start : 0;
    return this.#dataOffset(this.#descend(start, address.words));
  }

  /**
   * Calls back with the offset of every record that is neither a node nor empty, each once. @throws GeoDatabaseError for one
   * outside the data section.
   */
  eachDataOffset(dataLength: number, visit: (dataOffset: number) => void): void {
    const nodeCount = this.#nodeCount;
    // Millions of records lead to a few hundred offsets.
    const seen = new Uint8Array(dataLength);
    for (let index = 0; index < 2 * nodeCount; index++) {
      const record = this.#record(index >>> 1, index & 1);
      if (record <= nodeCount) continue;
      const offset = record - nodeCount - SEPARATOR;
      if (offset < 0 || offset >= dataLength) throw new GeoDatabaseError('a record that points outside the data');
      if (seen[offset] === 1) continue;
      seen[offset] = 1;
      visit(offset);
    }
  }

  /**
   * Calls back with every prefix that has data, each once. Some files lead other ranges (6to4, mapped addresses) into
   * the part for IPv4: since that part comes first, their second visit ends at once, and so does any loop in a damaged
   * file.
   */
  eachPrefix(visit: (prefix: Cidr, dataOffset: number) => void): void {
    const seen = new Uint8Array(this.#nodeCount);
    const words = this.#ipVersion === 6 ? [0, 0, 0, 0] : [0];
    const walk = (record: number, depth: number): void => {
      if (record >= this.#nodeCount) {
        const offset = this.#dataOffset(record);
        if (offset !== NOT_FOUND) visit(prefixOf(words, depth), offset);
        return;
      }
      if (depth === words.length * 32 || seen[record] === 1) return;
      seen[record] = 1;
      const [at, mask] = [depth >>> 5, 0x80000000 >>> (depth & 31)];
      walk(this.#record(record, 0), depth + 1);
      words[at] = ((words[at] ?? 0) | mask) >>> 0;
      walk(this.#record(record, 1), depth + 1);
      words[at] = ((words[at] ?? 0) & ~mask) >>> 0;
    };
    walk(0, 0);
  }

  #dataOffset(record: number): number {
    // A path that uses up the address inside the tree, as only a damaged file has one, ends at no data.
    return record <= this.#nodeCount ? NOT_FOUND : record - this.#nodeCount - SEPARATOR;
  }

  /** Follows at most 32 bits for each word, so that a tree that leads back into itself ends too. */
  #descend(start: number, words: readonly number[]): number {
    let record = start;
    for (const word of words) {
      for (let bit = 31; bit >= 0 && record < this.#nodeCount; bit--) record = this.#record(record, (word >>> bit) & 1);
    }
    return record;
  }

  #record(node: number, bit: number): number {
    const view = this.#view;
    // Four bytes at once, of which the last belongs to what follows: behind the last record is the separator.
    if (this.#recordSize === 24) return view.getUint32(node * 6 + bit * 3) >>> 8;
    if (this.#recordSize === 32) return view.getUint32(node * 8 + bit * 4);
    const at = node * 7;
    // 28 bits: the byte in the middle holds the highest four of either record.
    if (bit === 1) return view.getUint32(at + 3) & 0x0fffffff;
    const first = view.getUint32(at);
    return ((first & 0xf0) << 20) | (first >>> 8);
  }
}

/** The first 96 bits are zero for IPv4 in a tree of IPv6. */
function prefixOf(words: readonly number[], depth: number): Cidr {
  const isIpv4 = words.length === 1 || (depth >= 96 && words[0] === 0 && words[1] === 0 && words[2] === 0);
  if (!isIpv4) return { family: 6, words: [...words], prefix: depth };
  return { family: 4, words: [words.at(-1) ?? 0], prefix: words.length === 1 ? depth : depth - 96 };
}
