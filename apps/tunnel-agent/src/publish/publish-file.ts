import { dirname, resolve } from 'node:path';
import { Complaint } from '../options/command-line.js';
import { readFields } from '../options/config-file.js';
import { KINDS, readWanted, type Kind, type Wanted } from '../options/wanted.js';

export interface PublishFile {
  gateway?: string;
  api_key?: string;
  api_key_file?: string;
  log?: string;
  proxy?: string;
  publish: Wanted[];
}

const TEXTS = ['gateway', 'api_key', 'api_key_file', 'log', 'proxy'] as const;
const MAX_ENTRIES = 100;

/** `gatehouse.yaml`; paths in it are relative to it. @throws Complaint that names the file and the field. */
export function readPublishFile(path: string): PublishFile {
  const fields = readFields(path);
  const known: readonly string[] = [...TEXTS, 'publish'];
  for (const name of Object.keys(fields)) if (!known.includes(name)) fail('fieldUnknown', path, name);
  for (const name of TEXTS) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') fail('fieldText', path, name);
  }
  const { publish: entries } = fields;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_ENTRIES) {
    throw new Complaint((words) => words.text('usage.publishList', { path, max: MAX_ENTRIES }));
  }
  const { api_key_file: keyFile, ...rest } = fields as Omit<PublishFile, 'publish'>;
  return {
    ...rest,
    ...(keyFile !== undefined && { api_key_file: resolve(dirname(path), keyFile) }),
    publish: entries.map((entry: unknown, index) => readEntry(entry, path, index)),
  };
}

/** `{http: 3000, name: …}`, `{tcp: 22, port: …}` or `{share: ./folder, port: …}`. */
function readEntry(entry: unknown, path: string, index: number): Wanted {
  const field = `publish[${index}]`;
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return fail('publishEntry', path, field);
  const fields = entry as Record<string, unknown>;
  const kinds = KINDS.filter((kind) => fields[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) return fail('publishEntry', path, field);
  for (const [name, value] of Object.entries(fields)) {
    if (name !== kind && name !== 'name' && name !== 'port') fail('fieldUnknown', path, `${field}.${name}`);
    if (typeof value !== 'string' && typeof value !== 'number') fail('fieldText', path, `${field}.${name}`);
  }
  return inFile(path, field, () => readWanted(textsOf(kind, fields, path)));
}

function textsOf(kind: Kind, fields: Record<string, unknown>, path: string): Parameters<typeof readWanted>[0] {
  const [what, name, port] = [fields[kind], fields['name'], fields['port']].map((value) =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : undefined,
  );
  return { kind, what: kind === 'share' ? resolve(dirname(path), what ?? '') : (what ?? ''), name, port };
}

/** Adds where the problem is. */
function inFile<T>(path: string, field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Complaint)) throw error;
    const problem = error.in;
    throw new Complaint((words) => `${path}: ${field}: ${problem(words)}`, { cause: error });
  }
}

function fail(problem: 'fieldUnknown' | 'fieldText' | 'publishEntry', path: string, field: string): never {
  throw new Complaint((words) => words.text(`usage.${problem}`, { path, field }));
}
