import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const MAX_BYTES = 1024 * 1024;

export interface ConfigFile {
  server?: string;
  listen?: string;
  transport?: string;
  key?: string;
  key_file?: string;
  allow?: string[];
  deny?: string[];
  allow_file_roots?: string[];
  log?: string;
  grace_seconds?: number;
  p2p?: boolean;
  require_encryption?: boolean;
  replica?: boolean;
}

const TEXTS = ['server', 'listen', 'transport', 'key', 'key_file', 'log'] as const;
const LISTS = ['allow', 'deny', 'allow_file_roots'] as const;
const FLAGS = ['p2p', 'require_encryption', 'replica'] as const;
type FieldName = keyof ConfigFile;
const SHARED: readonly FieldName[] = ['server', 'transport', 'key', 'key_file', 'log', 'p2p'];
/** Fields of the agent. */
export const AGENT_FIELDS: ReadonlySet<string> = new Set<FieldName>([
  ...SHARED,
  ...LISTS,
  'grace_seconds',
  'require_encryption',
  'replica',
]);
/** Fields of `visit`. */
export const VISIT_FIELDS: ReadonlySet<string> = new Set<FieldName>([...SHARED, 'listen']);

/** YAML, including JSON. `known`: allowed fields. @throws Error that names the file and the field. */
export function readConfigFile(path: string, known: ReadonlySet<string>): ConfigFile {
  const fields = readFields(path);
  for (const name of Object.keys(fields)) if (!known.has(name)) fail(path, `"${name}" is not known`);
  for (const name of TEXTS) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') fail(path, `${name} is not a text`);
  }
  for (const name of LISTS) {
    const value = fields[name];
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (value !== undefined && !isList) fail(path, `${name} is not a list of texts`);
  }
  const { grace_seconds: grace } = fields;
  if (grace !== undefined && typeof grace !== 'number') fail(path, 'grace_seconds is not a number');
  for (const name of FLAGS) {
    const value = fields[name];
    if (value !== undefined && typeof value !== 'boolean') fail(path, `${name} is neither true nor false`);
  }
  return fields as ConfigFile;
}

function readFields(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_BYTES) throw new Error(`longer than ${MAX_BYTES} bytes`);
    value = parse(bytes.toString('utf8'), { maxAliasCount: 0 });
  } catch (error) {
    fail(path, (error as Error).message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(path, 'not a list of fields');
  return value as Record<string, unknown>;
}

function fail(path: string, reason: string): never {
  throw new Error(`${path}: ${reason}`);
}
