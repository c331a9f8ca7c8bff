import { isAbsolute } from 'node:path';
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

const OPTIONS = {
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
  const given = parseCommandLine(args, OPTIONS);
  if (given.help) return { print: 'usage' };
  if (given.version) return { print: 'version' };
  const configPath = given.config ?? environment['GATEHOUSE_AGENT_CONFIG'];
  const problems = new Problems();
  const { note } = problems;
  const file = note<ConfigFile>(() => (configPath ? readConfigFile(configPath, AGENT_FIELDS) : {}), {});
  const nowhere = new DestinationRules([]);
  const way = {
    server: given.server ?? environment['GATEHOUSE_AGENT_SERVER'] ?? file.server,
    transport: given.transport ?? file.transport,
    proxy: { setting: given.proxy ?? file.proxy, environment },
  };
  const settings: AgentSettings = {
    ...readWay(way, problems),
    key: note(() => readKey(KEY, { given, environment, file }), ''),
    keyFile: keyFileOf({ given, environment, file }, KEY),
    allow: note(() => destinations(given.allow ?? file.allow ?? []), nowhere),
    deny: note(() => destinations(given.deny ?? file.deny ?? []), nowhere),
    fileRoots: note(() => fileRoots(given['allow-file-root'] ?? file.allow_file_roots ?? []), []),
    log: note(() => logFormat(given.log ?? file.log, isTerminal), 'text'),
    graceMs: note(() => graceMs(given['grace-seconds'] ?? file.grace_seconds), 0),
    p2p: !given['no-p2p'] && file.p2p !== false,
    requireEncryption: given['require-encryption'] ?? file.require_encryption ?? false,
    replica: given.replica ?? file.replica ?? false,
  };
  problems.throwIfAny();
  return { run: settings };
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
