import { Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import { ByteStreamDuplex, guardFlow, type ByteStream } from '@gatehouse/net';
import type { ServerIdentity } from '../wire/server-identity.js';

const CIPHERS = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

/** TLS 1.3 with a key that the other side has pinned. Sessions made with it can be resumed with it. */
export function pinnedContext({ key, certificate }: ServerIdentity): SecureContext {
  return createSecureContext({
    key,
    cert: certificate,
    minVersion: 'TLSv1.3',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    sessionIdContext: 'gatehouse',
  });
}

export interface AcceptTlsOptions {
  /** The names of ALPN that are taken, the preferred first. */
  protocols: readonly string[];
  /** Another key for this connection, by the names that its ClientHello has. */
  contextFor?: (stream: TLSSocket, offered: readonly string[]) => SecureContext | null;
  onError: (error: Error) => void;
}

/**
 * The server's end of TLS over `stream`, which it owns from here on. `secure` is emitted when the handshake is done. It is
 * destroyed when the peer ends the connection before that, and by any error of TLS; it has no time limit of its own.
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
  // Of a socket made by hand, Node reports errors after the handshake with this event alone, and keeps it open.
  secured.on('_tlsError', gone);
  secured.on('end', gone);
  // What was read before TLS may have included the end.
  stream.on('end', gone);
  secured.once('secure', () => {
    secured.off('end', gone);
    stream.off('end', gone);
  });
  return secured;
}
