import { randomInt } from 'node:crypto';
import type { ClientHttp2Stream } from 'node:http2';
import type { NodeTransport } from '@gatehouse/contracts';
import { DialError, type DialContext } from '../../interfaces/index.js';
import type { Carrier } from '../carrier.js';
import { abortError, toDialError } from '../dial-error.js';
import { requestTarget } from '../http-upgrade.js';
import type { NodeServer } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { CANCEL, SessionPool } from './session-pool.js';
import { Http2Stream, checkStatus } from './stream.js';

/** V2Ray's `http` transport: the stream is the two bodies of a PUT. */
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
    await answered(pooled.stream, context.signal);
    return new Http2Stream(pooled);
  };
  return { connect, close: () => pool.close() };
}

function answered(stream: ClientHttp2Stream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      if (!stream.closed) stream.close(CANCEL);
      reject(error);
    };
    const onAbort = (): void => fail(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    // Stays for good: a late error must find a listener whoever owns the stream by then.
    stream.on('error', (error) => fail(toDialError(error, 'handshake')));
    stream.once('close', () => fail(new DialError('handshake', 'connection_reset', 'the server reset the stream')));
    stream.once('response', (headers) => {
      try {
        checkStatus(headers);
      } catch (error) {
        return fail(error);
      }
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    if (signal.aborted) onAbort();
  });
}
