import { Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import { ByteStreamDuplex, guardFlow, type ByteStream } from '@gatehouse/net';
import type { ServerIdentity } from '../wire/server-identity.js';

const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

/** Longer than agents keep a connection, so that the next one resumes its session. */
const SESSION_S = 2 * 3600;

/**
 * TLS 1.3 with a pinned key. Sessions of this context can be resumed, with `ticketKeys` also those of other contexts that have
 * them.
 */
export function pinnedContext({ key, certificate }: ServerIdentity, ticketKeys?: Buffer): SecureContext {
  return createSecureContext({
    key,
    cert: certificate,
    minVersion: 'TLSv1.3',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    sessionIdContext: 'gatehouse',
    sessionTimeout: SESSION_S,
    ...(ticketKeys && { ticketKeys }),
  });
}

export interface AcceptTlsOptions {
  /** Accepted ALPN names in order of preference. */
  protocols: readonly string[];
  /** Chooses another key for this connection, by the ALPN names in its ClientHello. */
  contextFor?: (stream: TLSSocket, offered: readonly string[]) => SecureContext | null;
  onError: (error: Error) => void;
}

/**
 * The server's end of TLS over `stream`, which it owns from now on. Emits `secure` after the handshake. It is destroyed
 * if the peer ends the connection before that, and by any TLS error; it has no time limit of its own.
 */
export function acceptTls(
  stream: ByteStream,
  secureContext: SecureContext,
  { protocols, contextFor, onError }: AcceptTlsOptions,
): TLSSocket {
  const transport = stream instanceof Socket ? stream : new ByteStreamDuplex(stream);
  const ALPNCallback = ({ protocols: offered }: { protocols: string[] }): string | undefined => {
    const other = contextFor?.(secured, offered);
    if (other) secured.setKeyCert(other);
    return protocols.find((protocol) => offered.includes(protocol));
  };
  const secured: TLSSocket = guardFlow(new TLSSocket(transport, { isServer: true, secureContext, ALPNCallback }));
  const gone = (): void => void secured.destroy();
  secured.on('error', onError);
  // For a manually created TLSSocket, Node reports errors after the handshake with this event only, and keeps the
  // socket open.
  secured.on('_tlsError', gone);
  secured.on('end', gone);
  // The end may have been among the bytes that were read before TLS.
  stream.on('end', gone);
  secured.once('secure', () => {
    secured.off('end', gone);
    stream.off('end', gone);
  });
  return secured;
}
