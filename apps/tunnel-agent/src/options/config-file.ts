import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Complaint, fileReason } from './command-line.js';

const MAX_BYTES = 1024 * 1024;

export interface ConfigFile {
  server?: string;
  listen?: string;
  transport?: string;
  proxy?: string;
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

const TEXTS = ['server', 'listen', 'transport', 'proxy', 'key', 'key_file', 'log'] as const;
const LISTS = ['allow', 'deny', 'allow_file_roots'] as const;
const FLAGS = ['p2p', 'require_encryption', 'replica'] as const;
type FieldName = keyof ConfigFile;
const SHARED: readonly FieldName[] = ['server', 'transport', 'proxy', 'key', 'key_file', 'log', 'p2p'];
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

/** YAML, including JSON. `known`: allowed fields. @throws Complaint that names the file and the field. */
export function readConfigFile(path: string, known: ReadonlySet<string>): ConfigFile {
  const fields = readFields(path);
  for (const name of Object.keys(fields)) if (!known.has(name)) fail('Unknown', path, name);
  for (const name of TEXTS) {
    if (fields[name] !== undefined && typeof fields[name] !== 'string') fail('Text', path, name);
  }
  for (const name of LISTS) {
    const value = fields[name];
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (value !== undefined && !isList) fail('Texts', path, name);
  }
  const { grace_seconds: grace } = fields;
  if (grace !== undefined && typeof grace !== 'number') fail('Number', path, 'grace_seconds');
  for (const name of FLAGS) {
    const value = fields[name];
    if (value !== undefined && typeof value !== 'boolean') fail('Flag', path, name);
  }
  return fields as ConfigFile;
}

/** YAML, including JSON. @throws Complaint that names the file. */
export function readFields(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_BYTES)
      throw new Complaint((words) => words.text('usage.fileTooLong', { path, max: MAX_BYTES }));
    value = parse(bytes.toString('utf8'), { maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof Complaint) throw error;
    throw new Complaint((words) => words.text('usage.file', { path, reason: fileReason(error, words) }), {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Complaint((words) => words.text('usage.fileNoFields', { path }));
  return value as Record<string, unknown>;
}

type FieldProblem = 'Unknown' | 'Text' | 'Texts' | 'Number' | 'Flag';

function fail(problem: FieldProblem, path: string, field: string): never {
  throw new Complaint((words) => words.text(`usage.field${problem}`, { path, field }));
}
