import type { Socket } from 'node:net';
import { setFlowTimeout, sniffTlsServerName, tlsProtocols } from '@gatehouse/net';

/** What a visitor sends before TLS begins. */
export interface ClientHello {
  serverName: string | null;
  /** A certificate authority that validates a name (RFC 8737). */
  acme: boolean;
  /** Offers HTTP/2, as browsers do, and agents never. */
  http2: boolean;
}

/** Fatal, `unrecognized_name` (RFC 6066 3). */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);
const MAX_BYTES = 17 * 1024;
/** Every piece means parsing everything received so far. */
const MAX_PIECES = 256;

/**
 * Reads a ClientHello and puts it back: the socket is paused afterwards, and TLS finds all bytes in it. Null: it is not
 * TLS, or the visitor has gone.
 */
export function readClientHello(socket: Socket): Promise<ClientHello | null> {
  return new Promise((resolve) => {
    let read: Buffer = Buffer.alloc(0);
    let pieces = 0;
    const finish = (hello: ClientHello | null): void => {
      socket.off('data', take).off('end', gone).off('close', gone).pause();
      if (hello && !socket.destroyed) socket.unshift(read);
      resolve(hello);
    };
    const gone = (): void => finish(null);
    const take = (chunk: Buffer): void => {
      read = read.length === 0 ? chunk : Buffer.concat([read, chunk]);
      pieces += 1;
      const result = sniffTlsServerName(read);
      if (result.state === 'found') {
        const protocols = tlsProtocols(read);
        finish({
          serverName: result.host,
          acme: protocols.includes('acme-tls/1'),
          http2: protocols.includes('h2'),
        });
      } else if (result.state === 'no' || read.length > MAX_BYTES || pieces >= MAX_PIECES) finish(null);
    };
    socket.on('data', take).on('end', gone).on('close', gone);
  });
}

/** Sent by hand: Node's TLS cannot send this alert. */
export function refuseServerName(socket: Socket): void {
  socket.end(UNRECOGNIZED_NAME);
  socket.resume();
  const timer = setFlowTimeout(socket, () => socket.destroy(), 1000);
  socket.once('close', () => clearTimeout(timer));
}
