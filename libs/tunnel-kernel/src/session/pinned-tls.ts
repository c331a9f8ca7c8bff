import { Socket } from 'node:net';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { type ByteStream, ByteStreamDuplex, connectTls, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { keyFingerprint } from '../wire/key-string.js';
import { pinHint } from '../wire/pin-hint.js';
import { taggedProtocols } from '../wire/route-tag.js';

/** For all servers: creating a context costs as much as a handshake. */
const secureContext = createSecureContext({ minVersion: 'TLSv1.3' });

/** The last TLS session with servers that have the same keys, so that later handshakes cost less. */
export class TlsMemory {
  session: Buffer | undefined;
}

/** A server with a pinned key, or several. */
export class PinnedServer {
  private pins: readonly string[];
  /** Fingerprint of the key that the server showed last. */
  private shown: string | null = null;
  private readonly routeTag: string | undefined;
  private readonly memory: TlsMemory;

  /**
   * `pins`: accepted fingerprints. `routeTag`: selects the process of the server; see `route-tag.ts`. `memory`: shared with
   * connections to other edges of the same gateway.
   */
  constructor(pins: string | readonly string[], routeTag?: string, memory = new TlsMemory()) {
    this.memory = memory;
    this.pins = typeof pins === 'string' ? [pins] : pins;
    this.routeTag = routeTag;
  }

  /**
   * Called when the server announces its next key. Returns the new pins if they changed: the key that it showed and the
   * next one. Other pins are dropped.
   */
  learn(next: string | null): readonly string[] | null {
    const { shown, pins } = this;
    if (shown === null) return null;
    const now = next === null || next === shown ? [shown] : [shown, next];
    if (now.join() === pins.join()) return null;
    this.pins = now;
    return now;
  }

  /**
   * TLS 1.3 over `transport`, which it owns from now on. Sends nothing to the server before its key was compared.
   * @throws TunnelError `server_key`, `timeout` or `connection`.
   */
  secure(transport: ByteStream, protocol: string, timeoutMs: number): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const stream = connectTls({
        socket: transport instanceof Socket ? transport : new ByteStreamDuplex(transport),
        // The key is pinned, so names and certificate authorities do not matter.
        rejectUnauthorized: false,
        secureContext,
        ALPNProtocols: [...taggedProtocols(protocol, this.routeTag), ...this.pins.map(pinHint)],
        ...(this.memory.session && { session: this.memory.session }),
      });
      const fail = (error: TunnelError): void => {
        clearTimeout(timer);
        stream.destroy();
        reject(error);
      };
      const timer = setFlowTimeout(
        null,
        () => fail(new TunnelError('timeout', `no TLS within ${timeoutMs} ms`)),
        timeoutMs,
      );
      stream.on('error', (error) => fail(new TunnelError('connection', error.message, { cause: error })));
      stream.once('close', () => fail(new TunnelError('connection', 'the server closed the connection')));
      stream.once('secureConnect', () => {
        if (!this.isPinned(stream)) return fail(new TunnelError('server_key', 'the server has another key'));
        if (stream.alpnProtocol !== protocol) return fail(new TunnelError('protocol', 'not a tunnel server'));
        clearTimeout(timer);
        stream.on('session', (session: Buffer) => (this.memory.session = session));
        stream.pause();
        resolve(stream);
      });
    });
  }

  private isPinned(stream: TLSSocket): boolean {
    const certificate = stream.getPeerX509Certificate();
    // A resumed session was made with the pinned key, and only its owner can resume it.
    if (!certificate) return stream.isSessionReused();
    const fingerprint = keyFingerprint(certificate.publicKey);
    if (!this.pins.includes(fingerprint)) return false;
    this.shown = fingerprint;
    return true;
  }
}
