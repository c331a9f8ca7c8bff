import { DataSection, type DataValue } from './data-section.js';
import { GeoDatabaseError } from './geo-database-error.js';

export interface GeoDatabaseMetadata {
  /** As its maker calls it: `GeoLite2-Country`, `sing-geoip`, `Meta-geoip0`... */
  databaseType: string;
  ipVersion: 4 | 6;
  /** Bits of one of the two records of a node. */
  recordSize: 24 | 28 | 32;
  nodeCount: number;
  /** Milliseconds since the epoch; null when the file does not say. */
  builtAt: number | null;
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** The format has the metadata within the last 128 KiB. */
const SEARCHED = 128 * 1024;
const BUDGET = 10_000;

/** The metadata, and where the data section before it ends. @throws GeoDatabaseError */
export function readMetadata(file: Buffer): { metadata: GeoDatabaseMetadata; dataEnd: number } {
  const from = Math.max(0, file.length - SEARCHED);
  const found = file.subarray(from).lastIndexOf(MARKER);
  if (found < 0) throw new GeoDatabaseError('not a MaxMind DB file: it has no metadata');
  const map = new DataSection(file.subarray(from + found + MARKER.length), BUDGET).read(0);
  if (!(map instanceof Map)) throw new GeoDatabaseError('metadata that is no map');
  if (map.get('binary_format_major_version') !== 2) throw new GeoDatabaseError('a format version other than 2');
  return { metadata: checkMetadata(map), dataEnd: from + found };
}

function checkMetadata(map: ReadonlyMap<string, DataValue>): GeoDatabaseMetadata {
  const recordSize = map.get('record_size');
  const ipVersion = map.get('ip_version');
  const nodeCount = map.get('node_count');
  const databaseType = map.get('database_type');
  if (recordSize !== 24 && recordSize !== 28 && recordSize !== 32)
    throw new GeoDatabaseError('a record size other than 24, 28 and 32');
  if (ipVersion !== 4 && ipVersion !== 6) throw new GeoDatabaseError('an IP version other than 4 and 6');
  if (typeof nodeCount !== 'number' || nodeCount < 1) throw new GeoDatabaseError('no nodes');
  const built = Number(map.get('build_epoch') ?? Number.NaN);
  return {
    databaseType: typeof databaseType === 'string' ? databaseType : '',
    ipVersion,
    recordSize,
    nodeCount,
    builtAt: Number.isSafeInteger(built) && built > 0 ? built * 1000 : null,
  };
}
