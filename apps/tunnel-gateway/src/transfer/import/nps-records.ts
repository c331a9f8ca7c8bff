import { basename } from 'node:path';
import { isTable, own } from './fields.js';
import type { ImportFile } from './frp.js';
import type { ImportReport, Place } from './import-report.js';

export type RecordKind = 'clients' | 'tasks' | 'hosts';

export interface NpsRecord extends Place {
  kind: RecordKind;
  value: Record<string, unknown>;
}

/** Separator of the records in nps's files. */
const SEPARATOR = '*#*';
const LISTS: Readonly<Record<string, RecordKind>> = {
  clients: 'clients',
  tasks: 'tasks',
  tunnels: 'tasks',
  hosts: 'hosts',
};

/** Records of clients.json, tasks.json and hosts.json as nps writes them, of lists of them, and of one object with all. */
export function readNpsRecords({ name, text }: ImportFile, report: ImportReport): NpsRecord[] {
  return partsOf(text).flatMap(({ text: part, path }) => {
    let value: unknown;
    try {
      value = JSON.parse(part);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report.add('refused', { file: name, path }, `must be JSON: ${reason.slice(0, 200)}`);
      return [];
    }
    return recordsOf(value, { file: name, path }, kindOfName(name), report);
  });
}

function partsOf(text: string): { text: string; path: string }[] {
  if (!text.includes(SEPARATOR)) return [{ text, path: '' }];
  const parts = text.split(SEPARATOR).filter((part) => part.trim() !== '');
  return parts.map((part, index) => ({ text: part, path: `[${index}]` }));
}

function kindOfName(name: string): RecordKind | undefined {
  return own(
    LISTS,
    basename(name)
      .toLowerCase()
      .replace(/\.json$/, ''),
  );
}

function recordsOf(value: unknown, place: Place, kind: RecordKind | undefined, report: ImportReport): NpsRecord[] {
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => recordOf(each, inside(place, `[${index}]`), kind, report));
  }
  if (!isTable(value)) return recordOf(value, place, kind, report);
  const lists = Object.entries(value).filter(([name, each]) => Array.isArray(each) && own(LISTS, name.toLowerCase()));
  if (lists.length === 0) return recordOf(value, place, kind, report);
  return lists.flatMap(([name, list]) =>
    (list as unknown[]).flatMap((each, index) =>
      recordOf(each, inside(place, `${name}[${index}]`), own(LISTS, name.toLowerCase()), report),
    ),
  );
}

function recordOf(value: unknown, place: Place, kind: RecordKind | undefined, report: ImportReport): NpsRecord[] {
  const found = isTable(value) ? (kind ?? kindOf(value)) : undefined;
  if (found !== undefined && isTable(value)) return [{ ...place, kind: found, value }];
  report.add('refused', place, 'must be a client, task or host of nps');
  return [];
}

function kindOf(value: Record<string, unknown>): RecordKind | undefined {
  if ('VerifyKey' in value) return 'clients';
  if ('Mode' in value) return 'tasks';
  return 'Host' in value ? 'hosts' : undefined;
}

/** A place within another one. */
export function inside({ file, path }: Place, part: string): Place {
  return { file, path: path === '' || part.startsWith('[') ? `${path}${part}` : `${path}.${part}` };
}
