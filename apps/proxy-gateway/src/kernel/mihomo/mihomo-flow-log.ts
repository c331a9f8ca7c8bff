import type { ErrorKind, Network } from '@gatehouse/proxy-kernel';

/** A flow as mihomo's log reports it: with its way out, or with the reason why that failed. */
export interface LoggedFlow {
  network: Network;
  /** `address:port`, the same as the connection in mihomo's list. */
  source: string;
  destination: string;
  /** As in mihomo's list of rules; null: none matched. */
  rule: { type: string; payload: string } | null;
  /** The target of the rule, and the node behind it if the target is a group. */
  target: string;
  outbound: string;
  /** Null: connected, or rejected. mihomo tries again for up to five seconds, and reports each attempt. */
  error: string | null;
}

const CONNECTED = /^\[(TCP|UDP)\] (\S+) --> (\S+) (?:match (\w+)(?:\((.*)\))?|doesn't match any rule) using (.+)$/;
const FAILED = /^\[(TCP|UDP)\] dial (.+?) (?:\(match (\w+)\/(.*)\) )?(\S+) --> (\S+) error: (.*)$/;
/** `PROXY[n1]`: the target and the node. */
const CHAIN = /^(.+)\[([^[\]]+)\]$/;
const LINE = /level=(\w+) msg=(?:"(.*)"|(.*))$/;

const KINDS: readonly [RegExp, ErrorKind][] = [
  [/refused/i, 'connection_refused'],
  [/i\/o timeout|deadline exceeded|timed out/i, 'timeout'],
  [/couldn't find ip|no such host|resolve/i, 'dns_error'],
  [/reset by peer|broken pipe/i, 'connection_reset'],
  [/unreachable|no route/i, 'unreachable'],
  [/tls|x509|certificate/i, 'tls_error'],
];

export interface LogLine {
  level: string;
  message: string;
}

/** A line of mihomo's log; one that has another form is its own message. */
export function readLogLine(line: string): LogLine {
  const [, level, quoted, plain] = LINE.exec(line) ?? [];
  if (level === undefined) return { level: 'warning', message: line };
  return { level, message: quoted === undefined ? (plain ?? '') : unquoted(quoted) };
}

/** Null for a message that is about something else. */
export function readFlow(message: string): LoggedFlow | null {
  const [, network, source, destination, type, payload, chain] = CONNECTED.exec(message) ?? [];
  if (network !== undefined && source !== undefined && destination !== undefined && chain !== undefined) {
    const [, target = chain, outbound = chain] = CHAIN.exec(chain) ?? [];
    return { ...flow(network, source, destination), rule: ruleOf(type, payload), target, outbound, error: null };
  }
  return readFailure(message);
}

export function errorKindOf(error: string): ErrorKind {
  return KINDS.find(([pattern]) => pattern.test(error))?.[1] ?? 'other';
}

function readFailure(message: string): LoggedFlow | null {
  const [, network, target, type, payload, source, destination, error] = FAILED.exec(message) ?? [];
  if (network === undefined || source === undefined || destination === undefined || target === undefined) return null;
  const rule = ruleOf(type, payload);
  return { ...flow(network, source, destination), rule, target, outbound: target, error: error ?? '' };
}

function flow(
  network: string,
  source: string,
  destination: string,
): Pick<LoggedFlow, 'network' | 'source' | 'destination'> {
  return { network: network === 'UDP' ? 'udp' : 'tcp', source, destination };
}

function ruleOf(type: string | undefined, payload: string | undefined): LoggedFlow['rule'] {
  return type === undefined ? null : { type, payload: payload ?? '' };
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    // Go escapes some bytes in ways that JSON does not have.
    return text;
  }
}
