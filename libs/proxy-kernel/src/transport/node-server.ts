import type { NodeTls } from '@gatehouse/contracts';
import { ByteReader, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext } from '../interfaces/index.js';
import { abortError, toDialError } from './dial-error.js';
import type { ServerDial, ServerDialer } from './server-dialer.js';
import { wrapTls } from './tls.js';

/** Opens streams to a node's server through its transport. */
export interface Carrier {
  /** Resolves paused. @throws DialError with the stage that failed; the signal's reason when it is aborted. */
  connect(context: DialContext): Promise<ByteStream>;
  /** Closes connections that several streams share. */
  close(): void;
}

/** A node's answer to a handshake is short; a longer one is not valid. */
const MAX_HANDSHAKE_BYTES = 16 * 1024;

export interface NodeServer {
  server: string;
  port: number;
  tls?: NodeTls | undefined;
}

/** Connects to a node's server, with TLS if configured. @throws DialError. */
export async function dialNodeServer(node: NodeServer, dialer: ServerDialer, dial: ServerDial): Promise<ByteStream> {
  const { server, port, tls } = node;
  const stream = await dialer.connect(server, port, { ...dial, plain: dial.plain === true || tls !== undefined });
  return tls ? wrapTls(stream, server, tls, dial) : stream;
}

/**
 * Runs a client handshake on a connected stream. The stream is closed if it fails; bytes after the handshake stay in
 * it.
 * @throws DialError stage `handshake`; the signal's reason when it is aborted.
 */
export async function shakeHands<T>(
  stream: ByteStream,
  signal: AbortSignal,
  handshake: (reader: ByteReader) => Promise<T>,
): Promise<T> {
  const onAbort = (): void => void stream.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const reader = new ByteReader(stream, MAX_HANDSHAKE_BYTES);
  try {
    if (signal.aborted) throw abortError(signal);
    const result = await handshake(reader);
    reader.restore();
    return result;
  } catch (error) {
    stream.destroy();
    if (signal.aborted) throw abortError(signal);
    throw handshakeError(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function handshakeError(error: unknown): DialError {
  const dialError = toDialError(error, 'handshake');
  if (dialError.kind !== 'other') return dialError;
  return new DialError('handshake', 'protocol_error', dialError.message, { cause: error });
}
