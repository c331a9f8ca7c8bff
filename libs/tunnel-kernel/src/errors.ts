import type { DialFailure } from './wire/messages.js';

/** Why an operation of the tunnel failed. The codes are stable: agents and the administration act on them. */
export type TunnelErrorCode =
  /** The other side violated the protocol. */
  | 'protocol'
  /** No common version of the protocol. */
  | 'version'
  /** The server's key does not match the key string. */
  | 'server_key'
  /** The key string cannot be read. */
  | 'key_string'
  /** The server does not know the key. */
  | 'unauthorized'
  /** The client is disabled or expired. */
  | 'disabled'
  /** Ended by an administrator; the agent may connect again. */
  | 'kicked'
  /** Another agent of the same client, or a newer connection of the same agent, took over. */
  | 'replaced'
  /** The server is shutting down. */
  | 'draining'
  /** Too many requests are open or waiting. */
  | 'overloaded'
  /** No agent of the client is connected. */
  | 'offline'
  /** The other side sent nothing for too long. */
  | 'silent'
  /** An operation took too long. */
  | 'timeout'
  /** The server's process that was reached serves other clients, and there is no route to the right one. */
  | 'misdirected'
  /** The server wants unsealed data channels, and this agent requires sealed ones. */
  | 'unencrypted'
  /** The connection failed, or could not be made. */
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

/** Carries the agent's reason why it did not reach a target. */
export class TargetError extends TunnelError {
  readonly reason: DialFailure;

  constructor(reason: DialFailure) {
    super('target', `the target could not be reached (${reason})`);
    this.name = 'TargetError';
    this.reason = reason;
  }
}

/** Maps what a socket or a reader threw to a TunnelError. */
export function asTunnelError(error: unknown): TunnelError {
  if (error instanceof TunnelError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  // A reader wraps the error that ended its stream.
  if (cause instanceof TunnelError) return cause;
  return new TunnelError('connection', error instanceof Error ? error.message : String(error), { cause: error });
}

export function protocolError(message: string, cause?: unknown): TunnelError {
  return new TunnelError('protocol', message, { cause });
}
