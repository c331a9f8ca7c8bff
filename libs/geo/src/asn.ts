import { parseIp } from '@gatehouse/net';
import type { DataValue } from './data-section.js';
import { GeoDatabaseError } from './geo-database-error.js';
import type { GeoDatabaseMetadata } from './metadata.js';
import { openRecords } from './records.js';

/** Number of the autonomous system an address belongs to; null when not known or no database is loaded. */
export type AsnLookup = (ip: string) => number | null;

export interface AutonomousSystem {
  number: number;
  /** Null where the file does not say. */
  organization: string | null;
}

export interface AsnDatabase {
  lookup: AsnLookup;
  system: (ip: string) => AutonomousSystem | null;
  /** Every prefix of a system in the file, in the order of addresses. It reads the whole file. */
  prefixes: (asn: number) => string[];
  readonly metadata: GeoDatabaseMetadata;
  readonly nodeCount: number;
}

/** Values of all records together: some 100,000 systems with a few values each. */
const BUDGET = 8_000_000;

/**
 * Opens a database of autonomous systems in MaxMind DB format: GeoLite2-ASN and ip-location-db
 * (`{autonomous_system_number, autonomous_system_organization}`), or `{asn, name}` with `AS13335` or a number. Checked
 * whole and kept, as `openCountryDatabase` does.
 * @throws GeoDatabaseError
 */
export function openAsnDatabase(file: Buffer): AsnDatabase {
  const { metadata, find, records, prefixes } = openRecords(file, BUDGET, systemOf);
  requireSystems(records);
  const system = (text: string): AutonomousSystem | null => {
    const address = parseIp(text);
    return address === null ? null : (records.get(find(address)) ?? null);
  };
  return {
    lookup: (ip) => system(ip)?.number ?? null,
    system,
    prefixes: (asn) => prefixes((record) => record?.number === asn),
    metadata,
    nodeCount: metadata.nodeCount,
  };
}

/**
 * The same without the names of systems, for processes that only compare numbers: half of the memory beside the file.
 * @throws GeoDatabaseError
 */
export function openAsnLookup(file: Buffer): AsnLookup {
  const { find, records } = openRecords(file, BUDGET, (record) => systemOf(record)?.number ?? null);
  requireSystems(records);
  return (text) => {
    const address = parseIp(text);
    return address === null ? null : (records.get(find(address)) ?? null);
  };
}

function requireSystems(records: ReadonlyMap<number, unknown>): void {
  if ([...records.values()].some((record) => record !== null)) return;
  throw new GeoDatabaseError('no autonomous system in any record');
}

function systemOf(record: DataValue): AutonomousSystem | null {
  if (!(record instanceof Map)) return null;
  const number = numberOf(record.get('autonomous_system_number') ?? record.get('asn') ?? null);
  if (number === null) return null;
  const name = record.get('autonomous_system_organization') ?? record.get('as_name') ?? record.get('name') ?? null;
  return { number, organization: typeof name === 'string' && name !== '' ? name : null };
}

function numberOf(value: DataValue): number | null {
  const number = typeof value === 'string' ? Number(/^(?:AS)?(\d{1,10})$/i.exec(value)?.[1] ?? Number.NaN) : value;
  return typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= 0xffffffff ? number : null;
}
