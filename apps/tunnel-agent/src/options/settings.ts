import { isAbsolute } from 'node:path';
import { stringify } from 'yaml';
import { DestinationRules, parseAgentKey } from '@gatehouse/tunnel-kernel';
import { Complaint, parseCommandLine, Problems } from './command-line.js';
import { AGENT_FIELDS, readConfigFile, type ConfigFile } from './config-file.js';
import { keyFileOf, readKey, type KeyKind } from './key-setting.js';
import { readWay, type WaySettings } from './way-settings.js';

const MAX_GRACE_SECONDS = 3600;
const KEY: KeyKind = { variable: 'GATEHOUSE_AGENT_KEY', prefix: 'gtk1.', parse: parseAgentKey };

export type Environment = Readonly<Record<string, string | undefined>>;
/** The environment of this process. */
export const OWN_ENVIRONMENT: Environment = process.env;

export interface AgentSettings extends WaySettings {
  key: string;
  /** The file that the key was read from. Undefined: it came from another source. */
  keyFile: string | undefined;
  /** Empty: everything that is not denied. */
  allow: DestinationRules;
  deny: DestinationRules;
  fileRoots: string[];
  log: 'text' | 'json';
  graceMs: number;
  /** Whether visitors of tunnels of mode `p2p` may connect directly. */
  p2p: boolean;
  /** Refuses a gateway that asks for unencrypted data channels. */
  requireEncryption: boolean;
  /** Whether other agents that are replicas, too, may serve the client at the same time. */
  replica: boolean;
}

export type Command = { run: AgentSettings } | { print: 'usage' | 'version' };

export const AGENT_OPTIONS = {
  server: { type: 'string' },
  transport: { type: 'string' },
  proxy: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  allow: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  'allow-file-root': { type: 'string', multiple: true },
  config: { type: 'string' },
  log: { type: 'string' },
  'grace-seconds': { type: 'string' },
  'no-p2p': { type: 'boolean' },
  'require-encryption': { type: 'boolean' },
  replica: { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Reads command line, environment and file, in this order of precedence. @throws UsageError listing everything that is
 * wrong.
 */
export function readSettings(
  args: readonly string[],
  environment: Environment = OWN_ENVIRONMENT,
  isTerminal = process.stdout.isTTY === true,
): Command {
  const given = parseCommandLine(args, AGENT_OPTIONS);
  if (given.help) return { print: 'usage' };
  if (given.version) return { print: 'version' };
  const problems = new Problems();
  const { note } = problems;
  const { file, fields } = readFields(given, environment, problems);
  const nowhere = new DestinationRules([]);
  const way = {
    server: fields.server,
    transport: fields.transport,
    proxy: { setting: fields.proxy, environment },
  };
  const settings: AgentSettings = {
    ...readWay(way, problems),
    key: note(() => readKey(KEY, { given, environment, file }), ''),
    keyFile: keyFileOf({ given, environment, file }, KEY),
    allow: note(() => destinations(fields.allow ?? []), nowhere),
    deny: note(() => destinations(fields.deny ?? []), nowhere),
    fileRoots: note(() => fileRoots(fields.allow_file_roots ?? []), []),
    log: note(() => logFormat(fields.log, isTerminal), 'text'),
    graceMs: note(() => graceMs(given['grace-seconds'] ?? fields.grace_seconds), 0),
    p2p: fields.p2p !== false,
    requireEncryption: fields.require_encryption ?? false,
    replica: fields.replica ?? false,
  };
  problems.throwIfAny();
  return { run: settings };
}

type Given = ReturnType<typeof parseCommandLine<typeof AGENT_OPTIONS>>;

/** What the file says, and what counts of command line, environment and file. The key is not in `fields`. */
function readFields(
  given: Given,
  environment: Environment,
  { note }: Problems,
): { file: ConfigFile; fields: Omit<ConfigFile, 'key' | 'key_file' | 'listen'> } {
  const path = given.config ?? environment['GATEHOUSE_AGENT_CONFIG'];
  const file = note<ConfigFile>(() => (path ? readConfigFile(path, AGENT_FIELDS) : {}), {});
  const { key: _key, key_file: _keyFile, listen: _listen, ...others } = file;
  const fields = {
    ...others,
    server: given.server ?? environment['GATEHOUSE_AGENT_SERVER'] ?? file.server,
    transport: given.transport ?? file.transport,
    proxy: given.proxy ?? file.proxy,
    allow: given.allow ?? file.allow,
    deny: given.deny ?? file.deny,
    allow_file_roots: given['allow-file-root'] ?? file.allow_file_roots,
    log: given.log ?? file.log,
    grace_seconds: given['grace-seconds'] === undefined ? file.grace_seconds : Number(given['grace-seconds']),
    p2p: given['no-p2p'] ? false : file.p2p,
    require_encryption: given['require-encryption'] ?? file.require_encryption,
    replica: given.replica ?? file.replica,
  };
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { file, fields: Object.fromEntries(said) };
}

/** The settings of these arguments as a configuration file without the key. @throws UsageError as `readSettings` */
export function settingsFile(args: readonly string[], environment: Environment): string {
  const problems = new Problems();
  const { fields } = readFields(parseCommandLine(args, AGENT_OPTIONS), environment, problems);
  problems.throwIfAny();
  return stringify(fields);
}

/** @throws Complaint that names the first pattern which is none */
function destinations(patterns: readonly string[]): DestinationRules {
  for (const text of patterns) {
    try {
      new DestinationRules([text]);
    } catch (error) {
      throw new Complaint((words) => words.text('usage.destination', { text }), { cause: error });
    }
  }
  return new DestinationRules(patterns);
}

function fileRoots(given: readonly string[]): string[] {
  const relative = given.filter((path) => !isAbsolute(path));
  const paths = `"${relative.join('", "')}"`;
  if (relative.length > 0) throw new Complaint((words) => words.text('usage.fileRoot', { paths }));
  return [...given];
}

/** Text for people, JSON lines for log collectors. */
export function logFormat(text: string | undefined, isTerminal: boolean): 'text' | 'json' {
  if (text === undefined) return isTerminal ? 'text' : 'json';
  if (text !== 'text' && text !== 'json') throw new Complaint((words) => words.text('usage.log', { text }));
  return text;
}

function graceMs(value: string | number | undefined): number {
  const seconds = value === undefined ? 30 : Number(value);
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > MAX_GRACE_SECONDS) {
    throw new Complaint((words) => words.text('usage.grace', { text: value ?? '', max: MAX_GRACE_SECONDS }));
  }
  return seconds * 1000;
}
