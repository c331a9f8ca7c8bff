import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readGateway } from '../gateway/gateway-setting.js';
import { KeptLogins } from '../gateway/kept-logins.js';
import { onlyGateway } from '../gateway/login-settings.js';
import { Complaint, complaintOf, Problems, UsageError } from '../options/command-line.js';
import { namesKey, readKey, type KeyKind } from '../options/key-setting.js';
import type { ProxyChoice } from '../proxy/proxy-address.js';
import { readProxy, type ProxyPlaces } from '../options/proxy-settings.js';
import { readPublishFile, type PublishFile } from './publish-file.js';
import { logFormat, OWN_ENVIRONMENT, type Environment } from '../options/settings.js';
import { KINDS, readWanted, type Kind, type Wanted } from '../options/wanted.js';

export interface PublishSettings {
  /** The console's address, without a path. */
  gateway: string;
  /** Null: its user has to log in first, at the terminal. */
  apiKey: string | null;
  /** The key is that of a login, and so are the ways to get another one. */
  isLogin: boolean;
  publish: Wanted[];
  log: 'text' | 'json';
  /** For the gateway's console. */
  proxyFor: ProxyChoice;
  /** For the way of the agent. */
  proxy: ProxyPlaces;
}

export type PublishCommand = { run: PublishSettings } | { print: 'usage' | 'version' };

const OPTIONS = {
  gateway: { type: 'string' },
  'api-key-file': { type: 'string' },
  name: { type: 'string' },
  port: { type: 'string' },
  config: { type: 'string' },
  log: { type: 'string' },
  proxy: { type: 'string' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;
const DEFAULT_FILE = 'gatehouse.yaml';
const API_KEY: KeyKind = {
  variable: 'GATEHOUSE_API_KEY',
  prefix: 'gtk_',
  option: '--api-key-file FILE',
  parse: (text) => {
    if (!/^gtk_\S+$/.test(text)) throw new Error('no API key');
  },
};

type Given = ReturnType<typeof parse>['values'];

/** Whether the first argument is one of the commands that publish something. */
export function publishes(command: string | undefined): boolean {
  return command === 'up' || isKind(command);
}

/** Reads command line, environment and, for `up`, the file. @throws UsageError listing everything that is wrong. */
export function readPublishSettings(
  args: readonly string[],
  environment: Environment = OWN_ENVIRONMENT,
  isTerminal = process.stdout.isTTY === true,
): PublishCommand {
  const { values: given, positionals } = parse(args);
  if (given.help) return { print: 'usage' };
  if (given.version) return { print: 'version' };
  const problems = new Problems();
  const { note } = problems;
  const file = note(() => readItems(positionals, given), { publish: [] });
  const logins = KeptLogins.of(environment);
  const named = given.gateway ?? environment['GATEHOUSE_GATEWAY'] ?? file.gateway;
  const gateway = note(() => readGateway(named ?? onlyGateway(logins)), '');
  const keys = {
    given: { 'key-file': given['api-key-file'] },
    environment,
    file: {
      ...(file.api_key !== undefined && { key: file.api_key }),
      ...(file.api_key_file !== undefined && { key_file: file.api_key_file }),
    },
  };
  const proxy = { setting: given.proxy ?? file.proxy, environment };
  const settings: PublishSettings = {
    gateway,
    proxyFor: readProxy(proxy, gateway.startsWith('http:') ? 'http' : 'https', problems),
    proxy,
    apiKey: note(() => {
      if (namesKey(keys, API_KEY)) return readKey(API_KEY, keys);
      return logins.find(gateway)?.api_key ?? (isTerminal ? null : readKey(API_KEY, keys));
    }, ''),
    isLogin: !namesKey(keys, API_KEY),
    publish: file.publish,
    log: note(() => logFormat(given.log ?? file.log, isTerminal), 'text'),
  };
  problems.throwIfAny();
  return { run: settings };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError([complaintOf(error as NodeJS.ErrnoException)]);
  }
}

function readItems([command, what, ...more]: readonly string[], given: Given): PublishFile {
  const [extra] = command === 'up' ? [what, ...more].filter((text) => text !== undefined) : more;
  if (extra !== undefined) throw new Complaint((words) => words.text('usage.notAnOption', { text: extra }));
  if (command === 'up') {
    const [option] = (['name', 'port'] as const).filter((name) => given[name] !== undefined);
    if (option !== undefined) throw new Complaint((words) => words.text('usage.notForUp', { option: `--${option}` }));
    return readPublishFile(resolve(given.config ?? DEFAULT_FILE));
  }
  if (!isKind(command) || what === undefined) throw new Complaint((words) => words.text('usage.publishWhat'));
  if (given.config !== undefined) throw new Complaint((words) => words.text('usage.configForUp'));
  return { publish: [readWanted({ kind: command, what, name: given.name, port: given.port })] };
}

function isKind(command: string | undefined): command is Kind {
  return KINDS.some((kind) => kind === command);
}
