import { createHash } from 'node:crypto';
import { Socket, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { NodeTls } from '@gatehouse/contracts';
import { ByteStreamDuplex, connectTls, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext } from '../interfaces/index.js';
import { abortError, errorCode } from './dial-error.js';

/**
 * TLS over a connected stream. Resolves paused, with an error listener.
 * @throws DialError stage `handshake` kind `tls_error`; the signal's reason when it is aborted.
 */
export function wrapTls(
  stream: ByteStream,
  server: string,
  tls: NodeTls,
  { signal, onStage }: DialContext,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      stream.destroy();
      return reject(abortError(signal));
    }
    const secure = connectTls(tlsOptions(toDuplex(stream), server, tls));
    secure.pause();
    const onAbort = (): void => void secure.destroy(abortError(signal));
    secure.on('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      stream.destroy();
      reject(error instanceof DialError ? error : tlsError(error));
    });
    secure.once('close', () => reject(tlsError(new Error('the server closed the connection'))));
    secure.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      if (tls.fingerprint && !hasFingerprint(secure, tls.fingerprint)) {
        secure.destroy(new DialError('handshake', 'tls_error', 'the certificate is not the pinned one'));
        return;
      }
      onStage?.('tls');
      resolve(secure);
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** A Duplex for `node:tls` and `node:http2`: the socket itself if there is one. */
export function toDuplex(stream: ByteStream): Duplex {
  return stream instanceof Socket ? stream : new ByteStreamDuplex(stream);
}

function tlsOptions(socket: Duplex, server: string, tls: NodeTls): ConnectionOptions {
  const name = tls.sni ?? server;
  return {
    socket,
    // The name to verify; an address is verified too, but never sent as a server name (RFC 6066 3).
    host: name,
    ...(isIP(name) ? {} : { servername: name }),
    // A pinned certificate is checked after the handshake, instead of its chain.
    rejectUnauthorized: !tls.skipCertVerify && !tls.fingerprint,
    minVersion: 'TLSv1.2',
    ...(tls.alpn ? { ALPNProtocols: tls.alpn } : {}),
    ...(tls.certificate && tls.privateKey ? { cert: tls.certificate, key: tls.privateKey } : {}),
  };
}

function hasFingerprint(secure: TLSSocket, fingerprints: string): boolean {
  const { raw } = secure.getPeerCertificate();
  const pins = fingerprints.replaceAll(':', '').toLowerCase().split(',');
  return pins.includes(createHash('sha256').update(raw).digest('hex'));
}

function tlsError(error: Error): DialError {
  const code = errorCode(error);
  const kind = code === 'ECONNRESET' ? 'connection_reset' : 'tls_error';
  return new DialError('handshake', kind, error.message, { cause: error });
}
