import { DialError, type ErrorKind, type ErrorStage } from '../interfaces/index.js';

const KINDS: Record<string, ErrorKind> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ENETDOWN: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENOTFOUND: 'dns_error',
  EAI_AGAIN: 'dns_error',
};

/** The code of a system or Node error: `ECONNREFUSED`, `ERR_TLS_CERT_ALTNAME_INVALID`. Null without one. */
export function errorCode(error: unknown): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return null;
}

/** The kind of failure that a code stands for. */
export function errorKind(error: unknown): ErrorKind {
  if (error instanceof DialError) return error.kind;
  const code = errorCode(error) ?? '';
  if (KINDS[code]) return KINDS[code];
  return /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code) ? 'tls_error' : 'other';
}

/** Wraps an error with the stage of the dial; a DialError is not changed. */
export function toDialError(error: unknown, stage: ErrorStage): DialError {
  if (error instanceof DialError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new DialError(stage, errorKind(error), message, { cause: error });
}

/** The reason of an aborted signal, as an error. */
export function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DialError('dial', 'other', 'the dial was given up');
}
