import type { TunnelErrorCode } from '@gatehouse/tunnel-kernel';

/** Exit codes, for scripts and service managers. */
export const EXIT = {
  /** Stopped on request. */
  stopped: 0,
  /** A defect of the program. */
  failed: 1,
  /** The command line, the environment or the file cannot be read. */
  usage: 2,
  /** The server does not know the key. */
  key: 3,
  /** The server at this address has another key than the key string names. */
  server: 4,
  /** Another agent with the same key took over. */
  replaced: 5,
  /** Server and agent share no version of the protocol. */
  version: 6,
} as const;

const FINAL: Partial<Record<TunnelErrorCode, number>> = {
  unauthorized: EXIT.key,
  server_key: EXIT.server,
  replaced: EXIT.replaced,
  version: EXIT.version,
  stopped: EXIT.stopped,
};

/** The exit code for an agent that will not connect again. */
export function exitCodeOf(code: TunnelErrorCode): number {
  return FINAL[code] ?? EXIT.failed;
}

const ADVICE: Partial<Record<TunnelErrorCode, string>> = {
  unauthorized: 'The key was changed or taken back: ask for the new one, or look whether it was copied whole.',
  server_key:
    'Something else answers at this address, or the gateway was set up anew: compare the address, then ask for a new key.',
  replaced: 'Another agent uses the same key: stop one of the two, or make a client for each.',
  version: 'Use the agent that comes with the gateway.',
  misdirected:
    'Something between here and the gateway takes the WebSocket out of its TLS and hides which process of the gateway is meant. ' +
    'Have it pass TLS on untouched, or speak plain HTTP to the port for HTTP of the gateway (TUNNEL_HTTP_PORT).',
  disabled:
    'The client is switched off or has expired, or a rule keeps this address out; it goes on as soon as that is changed.',
};

/** What a person can do about it; empty if nothing is known. */
export function adviceFor(code: TunnelErrorCode): string {
  return ADVICE[code] ?? '';
}
