import { readFileSync } from 'node:fs';
import { parseVisitorKey, type HostAndPort } from '@gatehouse/tunnel-kernel';
import { parseCommandLine, Problems } from './command-line.js';
import { OWN_ENVIRONMENT, parseServer, type Environment } from './settings.js';

/** What `gatehouse-agent visit` was told. */
export interface VisitSettings {
  server: HostAndPort;
  key: string;
  /** The local port that leads to the tunnel. */
  listen: HostAndPort;
  log: 'text' | 'json';
  /** Whether connections may go to the agent directly. */
  p2p: boolean;
}

const OPTIONS = {
  server: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  listen: { type: 'string' },
  log: { type: 'string' },
  'no-p2p': { type: 'boolean' },
} as const;

/** @throws UsageError listing all that is wrong. */
export function readVisitSettings(
  args: readonly string[],
  environment: Environment = OWN_ENVIRONMENT,
  isTerminal = process.stdout.isTTY === true,
): VisitSettings {
  const given = parseCommandLine(args, OPTIONS);
  const problems = new Problems();
  const { note } = problems;
  const nowhere = { host: '', port: 0 };
  const settings: VisitSettings = {
    server: note(() => parseServer(given.server ?? environment['GATEHOUSE_AGENT_SERVER']), nowhere),
    key: note(() => readKey(given.key, given['key-file'], environment['GATEHOUSE_VISITOR_KEY']), ''),
    listen: note(() => parseListen(given.listen), nowhere),
    log: given.log === 'json' || (given.log === undefined && !isTerminal) ? 'json' : 'text',
    p2p: !given['no-p2p'],
  };
  problems.throwIfAny();
  return settings;
}

function readKey(given: string | undefined, file: string | undefined, variable: string | undefined): string {
  const text = given ?? (file === undefined ? variable : readFileSync(file, 'utf8'));
  if (!text) throw new Error('no key: GATEHOUSE_VISITOR_KEY, --key-file FILE or --key KEY');
  try {
    parseVisitorKey(text);
  } catch {
    throw new Error('the key cannot be read: it begins with gtv1. and must be copied whole');
  }
  return text.trim();
}

/** A port alone is one of this machine only. */
function parseListen(text: string | undefined): HostAndPort {
  if (text === undefined) throw new Error('no port to listen at: --listen 127.0.0.1:PORT');
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:\s]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const listen = { host: bracketed ?? plain ?? '127.0.0.1', port: Number(digits ?? Number.NaN) };
  if (!(listen.port >= 0 && listen.port <= 65_535)) throw new Error(`"${text}" is not a port: write 127.0.0.1:PORT`);
  return listen;
}
