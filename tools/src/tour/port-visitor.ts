import { once } from 'node:events';
import { connect } from 'node:net';

const TIMEOUT_MS = 30_000;

/** What a visitor's own socket moved. */
export interface Moved {
  sent: number;
  received: number;
  text: string;
}

/** Asks for a path at a port of a tunnel. A visitor who is refused, cut off or left waiting has what came until then. */
export async function fetchThroughPort(port: number, path: string): Promise<Moved> {
  const socket = connect({ host: '127.0.0.1', port });
  const parts: Buffer[] = [];
  socket.on('error', () => undefined);
  socket.on('data', (part: Buffer) => parts.push(part));
  // Not end(): Node's server gives up its answer when the request's side is closed before it has written everything.
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await once(socket, 'close', { signal }).catch(() => socket.destroy());
  return { sent: socket.bytesWritten, received: socket.bytesRead, text: Buffer.concat(parts).toString('latin1') };
}
