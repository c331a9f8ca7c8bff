import { parseVisitorKey, type HostAndPort } from '@gatehouse/tunnel-kernel';
import { Complaint, parseCommandLine, Problems } from './command-line.js';
import { readConfigFile, VISIT_FIELDS, type ConfigFile } from './config-file.js';
import { readKey, type KeyKind } from './key-setting.js';
import { logFormat, OWN_ENVIRONMENT, type Environment } from './settings.js';
import { readWay, type WaySettings } from './way-settings.js';

const KEY: KeyKind = { variable: 'GATEHOUSE_VISITOR_KEY', prefix: 'gtv1.', parse: parseVisitorKey };

/** The settings of `gatehouse-agent visit`. */
export interface VisitSettings extends WaySettings {
  key: string;
  /** The local port that leads to the tunnel. */
  listen: HostAndPort;
  log: 'text' | 'json';
  /** Whether connections may go to the agent directly. */
  p2p: boolean;
}

export type VisitCommand = { run: VisitSettings } | { print: 'usage' };

const OPTIONS = {
  server: { type: 'string' },
  transport: { type: 'string' },
  proxy: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  listen: { type: 'string' },
  config: { type: 'string' },
  log: { type: 'string' },
  'no-p2p': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * As for the agent: command line, environment and file, in this order of precedence. @throws UsageError listing
 * everything that is wrong.
 */
export function readVisitSettings(
  args: readonly string[],
  environment: Environment = OWN_ENVIRONMENT,
  isTerminal = process.stdout.isTTY === true,
): VisitCommand {
  const given = parseCommandLine(args, OPTIONS);
  if (given.help) return { print: 'usage' };
  const { config } = given;
  const problems = new Problems();
  const { note } = problems;
  const file = note<ConfigFile>(() => (config === undefined ? {} : readConfigFile(config, VISIT_FIELDS)), {});
  const way = {
    server: given.server ?? environment['GATEHOUSE_AGENT_SERVER'] ?? file.server,
    transport: given.transport ?? file.transport,
    proxy: { setting: given.proxy ?? file.proxy, environment },
  };
  const settings: VisitSettings = {
    ...readWay(way, problems),
    key: note(() => readKey(KEY, { given, environment, file }), ''),
    listen: note(() => parseListen(given.listen ?? file.listen), { host: '', port: 0 }),
    log: note(() => logFormat(given.log ?? file.log, isTerminal), 'text'),
    p2p: !given['no-p2p'] && file.p2p !== false,
  };
  problems.throwIfAny();
  return { run: settings };
}

/** A port without an address means the loopback address. */
function parseListen(text: string | undefined): HostAndPort {
  if (text === undefined) throw new Complaint((words) => words.text('usage.noListen'));
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:\s]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const listen = { host: bracketed ?? plain ?? '127.0.0.1', port: Number(digits ?? Number.NaN) };
  if (!(listen.port >= 0 && listen.port <= 65_535))
    throw new Complaint((words) => words.text('usage.listen', { text }));
  return listen;
}
