import { Socket } from 'node:net';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { ByteStreamDuplex, type ByteStream } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { keyFingerprint } from '../wire/key-string.js';
import { taggedProtocols } from '../wire/route-tag.js';

/** A server whose key is known beforehand. Remembers its last session ticket: later handshakes cost less. */
export class PinnedServer {
  private readonly fingerprint: string;
  private readonly routeTag: string | undefined;
  private readonly secureContext = createSecureContext({ minVersion: 'TLSv1.3' });
  private session: Buffer | undefined;

  /** `routeTag`: which process of the server is meant; see `route-tag.ts`. */
  constructor(fingerprint: string, routeTag?: string) {
    this.fingerprint = fingerprint;
    this.routeTag = routeTag;
  }

  /**
   * TLS 1.3 over `transport`, which it owns from here on. Nothing was sent to the server before its key was compared.
   * @throws TunnelError `server_key`, `timeout` or `connection`.
   */
  secure(transport: ByteStream, protocol: string, timeoutMs: number): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const stream = connect({
        socket: transport instanceof Socket ? transport : new ByteStreamDuplex(transport),
        // The key is pinned: names and authorities say nothing here.
        rejectUnauthorized: false,
        // One for all connections: making it costs as much as a handshake.
        secureContext: this.secureContext,
        ALPNProtocols: taggedProtocols(protocol, this.routeTag),
        ...(this.session && { session: this.session }),
      });
      const fail = (error: TunnelError): void => {
        clearTimeout(timer);
        stream.destroy();
        reject(error);
      };
      const timer = setTimeout(() => fail(new TunnelError('timeout', `no TLS within ${timeoutMs} ms`)), timeoutMs);
      stream.on('error', (error) => fail(new TunnelError('connection', error.message, { cause: error })));
      stream.once('close', () => fail(new TunnelError('connection', 'the server closed the connection')));
      stream.once('secureConnect', () => {
        if (!this.isPinned(stream)) return fail(new TunnelError('server_key', 'the server has another key'));
        if (stream.alpnProtocol !== protocol) return fail(new TunnelError('protocol', 'not a tunnel server'));
        clearTimeout(timer);
        stream.on('session', (session: Buffer) => (this.session = session));
        stream.pause();
        resolve(stream);
      });
    });
  }

  private isPinned(stream: TLSSocket): boolean {
    const certificate = stream.getPeerX509Certificate();
    // A resumed session was made with the pinned key, and only its owner could go on with it.
    if (!certificate) return stream.isSessionReused();
    return keyFingerprint(certificate.publicKey) === this.fingerprint;
  }
}
