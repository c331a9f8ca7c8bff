import { formatCidr, type IpAddress } from '@gatehouse/net';
import { DataSection, type DataValue } from './data-section.js';
import { GeoDatabaseError } from './geo-database-error.js';
import { type GeoDatabaseMetadata, readMetadata } from './metadata.js';
import { SearchTree } from './search-tree.js';

export interface OpenedRecords<T> {
  metadata: GeoDatabaseMetadata;
  /** Key into `records`; one that is not there when the address has no data. */
  find: (address: IpAddress) => number;
  records: ReadonlyMap<number, T>;
  /** The prefixes of the records that `isWanted`, as text. It reads the whole file. */
  prefixes: (isWanted: (record: T) => boolean) => string[];
}

/** Larger than any database in use; a download that is longer is something else. */
const MAX_FILE = 256 * 1024 * 1024;

/**
 * Opens a MaxMind DB file and decodes every record once, so that looking up cannot fail later. `budget` bounds the values of
 * all records together.
 * @throws GeoDatabaseError
 */
export function openRecords<T>(file: Buffer, budget: number, decode: (record: DataValue) => T): OpenedRecords<T> {
  if (file.length > MAX_FILE) throw new GeoDatabaseError('larger than any database of addresses');
  const { metadata, dataEnd } = readMetadata(file);
  const tree = new SearchTree(file, metadata, dataEnd);
  const data = file.subarray(tree.length, dataEnd);
  const section = new DataSection(data, budget);
  const records = new Map<number, T>();
  tree.eachDataOffset(data.length, (offset) => records.set(offset, decode(section.read(offset))));
  const prefixes = (isWanted: (record: T) => boolean): string[] => {
    const wanted = new Set([...records].flatMap(([offset, record]) => (isWanted(record) ? [offset] : [])));
    const found: string[] = [];
    if (wanted.size === 0) return found;
    tree.eachPrefix((prefix, offset) => {
      if (wanted.has(offset)) found.push(formatCidr(prefix));
    });
    return found;
  };
  return { metadata, find: (address) => tree.find(address), records, prefixes };
}
