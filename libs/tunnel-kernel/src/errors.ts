import type { DialFailure } from './wire/messages.js';

/** Why something of the tunnel did not go on. Stable: agents and the administration act on them. */
export type TunnelErrorCode =
  /** The other side sent what the protocol does not have. */
  | 'protocol'
  /** No common version of the protocol. */
  | 'version'
  /** The server's key is not the one that the key string names. */
  | 'server_key'
  /** The key string cannot be read. */
  | 'key_string'
  /** The server does not know the key. */
  | 'unauthorized'
  /** The client is disabled or expired. */
  | 'disabled'
  /** Ended by an administrator; the agent may come back. */
  | 'kicked'
  /** Another agent of the same client, or a newer connection of the same agent, took over. */
  | 'replaced'
  /** The server is on its way out. */
  | 'draining'
  /** Too much is open or waiting. */
  | 'overloaded'
  /** No agent of the client is connected. */
  | 'offline'
  /** Nothing was heard from the other side for too long. */
  | 'silent'
  /** Something did not happen in its time. */
  | 'timeout'
  /** The server's process that was reached serves others, and nothing leads to the right one. */
  | 'misdirected'
  /** The server wants plain data channels, and this agent insists on sealed ones. */
  | 'unencrypted'
  /** The connection ended, or could not be made. */
  | 'connection'
  /** The agent did not reach a target: see `TargetError`. */
  | 'target'
  /** Ended by its owner. */
  | 'stopped';

export class TunnelError extends Error {
  readonly code: TunnelErrorCode;

  constructor(code: TunnelErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TunnelError';
    this.code = code;
  }
}

/** The agent says why it did not reach what it was to reach. */
export class TargetError extends TunnelError {
  readonly reason: DialFailure;

  constructor(reason: DialFailure) {
    super('target', `the target could not be reached (${reason})`);
    this.name = 'TargetError';
    this.reason = reason;
  }
}

/** What a socket or a reader of one raised, as what it means here. */
export function asTunnelError(error: unknown): TunnelError {
  if (error instanceof TunnelError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  // A reader wraps what ended its stream.
  if (cause instanceof TunnelError) return cause;
  return new TunnelError('connection', error instanceof Error ? error.message : String(error), { cause: error });
}

export function protocolError(message: string, cause?: unknown): TunnelError {
  return new TunnelError('protocol', message, { cause });
}
