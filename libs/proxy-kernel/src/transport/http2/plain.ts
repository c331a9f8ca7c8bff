import { randomInt } from 'node:crypto';
import type { NodeTransport } from '@gatehouse/contracts';
import { DialError, type DialContext } from '../../interfaces/index.js';
import { abortError, toDialError } from '../dial-error.js';
import { requestTarget } from '../http-upgrade.js';
import type { NodeServer, Carrier } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { SessionPool, type PooledStream } from './session-pool.js';
import { Http2Stream, checkStatus } from './stream.js';

/** V2Ray's `http` transport: the stream is the two bodies of a PUT request. */
export function createHttp2Carrier(
  node: NodeServer,
  { hosts = [], path }: Extract<NodeTransport, { type: 'h2' }>,
  dialer: ServerDialer,
): Carrier {
  const pool = new SessionPool(node, dialer);
  const connect = async (context: DialContext): Promise<Http2Stream> => {
    const headers = {
      ':method': 'PUT',
      ':scheme': node.tls ? 'https' : 'http',
      ':path': requestTarget(path),
      ':authority': hosts.length > 0 ? hosts[randomInt(hosts.length)] : (node.tls?.sni ?? node.server),
    };
    const pooled = await pool.request(headers, context);
    await answered(pooled, context.signal);
    return new Http2Stream(pooled);
  };
  return { connect, close: () => pool.close() };
}

function answered({ stream, reset }: PooledStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const fail = (error: unknown): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener('abort', onAbort);
      reset();
      reject(error);
    };
    const onAbort = (): void => fail(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    // Never removed: a late error needs a listener, even if the stream has another owner by then.
    stream.on('error', (error) => fail(toDialError(error, 'handshake')));
    stream.once('close', () => fail(new DialError('handshake', 'connection_reset', 'the server reset the stream')));
    stream.once('response', (headers) => {
      try {
        checkStatus(headers);
      } catch (error) {
        return fail(error);
      }
      settled = true;
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
  });
}
