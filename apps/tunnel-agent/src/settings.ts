import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { parseArgs } from 'node:util';
import {
  DestinationRules,
  parseAgentKey,
  parseWebSocketAddress,
  type AgentTransport,
  type HostAndPort,
  type WebSocketAddress,
} from '@gatehouse/tunnel-kernel';
import { parseCommandLine, Problems } from './command-line.js';
import { readConfigFile, type ConfigFile } from './config-file.js';

const DEFAULT_PORT = 8024;
const MAX_GRACE_SECONDS = 3600;
const TRANSPORTS: readonly AgentTransport[] = ['auto', 'raw', 'websocket'];

export type Environment = Readonly<Record<string, string | undefined>>;
/** Of this process. */
export const OWN_ENVIRONMENT: Environment = process.env;

export interface AgentSettings {
  server: HostAndPort;
  transport: AgentTransport;
  /** Undefined: where the library looks for one. */
  websocket: WebSocketAddress | undefined;
  key: string;
  /** Empty: all that is not denied. */
  allow: DestinationRules;
  deny: DestinationRules;
  fileRoots: string[];
  log: 'text' | 'json';
  graceMs: number;
  /** Whether visitors of tunnels of mode `p2p` may connect directly. */
  p2p: boolean;
}

export type Command = { run: AgentSettings } | { print: 'usage' | 'version' };

const OPTIONS = {
  server: { type: 'string' },
  transport: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  allow: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  'allow-file-root': { type: 'string', multiple: true },
  config: { type: 'string' },
  log: { type: 'string' },
  'grace-seconds': { type: 'string' },
  'no-p2p': { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads command line, environment and file, in this order of weight. @throws UsageError listing all that is wrong. */
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
  const file = note<ConfigFile>(() => (configPath ? readConfigFile(configPath) : {}), {});
  const nowhere = new DestinationRules([]);
  const serverText = given.server ?? environment['GATEHOUSE_AGENT_SERVER'] ?? file.server;
  const websocket = parseWebSocketAddress(serverText ?? '') ?? undefined;
  const settings: AgentSettings = {
    server: note<HostAndPort>(() => websocket ?? parseServer(serverText), { host: '', port: 0 }),
    transport: note(() => transport(given.transport ?? file.transport, websocket !== undefined), 'auto'),
    websocket,
    key: note(() => readKey(given, environment['GATEHOUSE_AGENT_KEY'], file), ''),
    allow: note(() => new DestinationRules(given.allow ?? file.allow ?? []), nowhere),
    deny: note(() => new DestinationRules(given.deny ?? file.deny ?? []), nowhere),
    fileRoots: note(() => fileRoots(given['allow-file-root'] ?? file.allow_file_roots ?? []), []),
    log: note(() => logFormat(given.log ?? file.log, isTerminal), 'text'),
    graceMs: note(() => graceMs(given['grace-seconds'] ?? file.grace_seconds), 0),
    p2p: !given['no-p2p'] && file.p2p !== false,
  };
  problems.throwIfAny();
  return { run: settings };
}

type Given = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** @throws Error that says how it is written. */
export function parseServer(text: string | undefined): HostAndPort {
  if (!text) throw new Error('no server: --server HOST:PORT');
  const [, bracketed, plain, port = DEFAULT_PORT] = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const server = { host: bracketed ?? plain ?? '', port: Number(port) };
  if (server.host === '' || server.port < 1 || server.port > 65_535) {
    throw new Error(`"${text}" is not a server: write HOST:PORT or wss://HOST, an IPv6 address in brackets`);
  }
  return server;
}

/** Behind the address of a WebSocket there is nothing else. */
function transport(text: string | undefined, isWebSocket: boolean): AgentTransport {
  const found = TRANSPORTS.find((known) => known === (text ?? (isWebSocket ? 'websocket' : 'auto')));
  if (!found) throw new Error(`"${text}" is not a transport: ${TRANSPORTS.join(', ')}`);
  if (isWebSocket && found !== 'websocket') throw new Error(`transport ${found} needs --server HOST:PORT`);
  return found;
}

function readKey(given: Given, variable: string | undefined, file: ConfigFile): string {
  const inFile = given['key-file'] ?? (given.key || variable ? undefined : file.key_file);
  const key = given.key ?? (given['key-file'] ? undefined : variable) ?? (inFile ? readKeyFile(inFile) : file.key);
  if (!key) throw new Error('no key: GATEHOUSE_AGENT_KEY, --key-file FILE or --key KEY');
  try {
    parseAgentKey(key.trim());
  } catch {
    throw new Error('the key cannot be read: it begins with gtk1. and must be copied whole');
  }
  return key.trim();
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`the file of the key cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function fileRoots(paths: readonly string[]): string[] {
  const relative = paths.filter((path) => !isAbsolute(path));
  if (relative.length > 0) throw new Error(`"${relative.join('", "')}": a file root is an absolute path`);
  return [...paths];
}

function logFormat(text: string | undefined, isTerminal: boolean): 'text' | 'json' {
  if (text === undefined) return isTerminal ? 'text' : 'json';
  if (text !== 'text' && text !== 'json') throw new Error(`"${text}" is not a log format: text or json`);
  return text;
}

function graceMs(value: string | number | undefined): number {
  const seconds = value === undefined ? 30 : Number(value);
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > MAX_GRACE_SECONDS) {
    throw new Error(`"${value}" is not a number of seconds from 0 to ${MAX_GRACE_SECONDS}`);
  }
  return seconds * 1000;
}
