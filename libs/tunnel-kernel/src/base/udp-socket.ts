import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { createUdpSocket as createSocket } from '@gatehouse/net';

/** Receive buffer of the system; it may grant less. */
const BUFFER_BYTES = 4 * 1024 * 1024;
/** Datagrams queued for the network; more are dropped. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

export interface UdpSocketOptions {
  /** An address of the socket's family. */
  address: string;
  bufferBytes?: number;
  /** Makes an IPv6 socket that accepts no IPv4. */
  onlyFamily?: boolean;
}

/** Accepts only addresses, never names, so that no datagram waits for a resolver. Has an `error` listener. */
export function createUdpSocket({ address, bufferBytes = BUFFER_BYTES, onlyFamily }: UdpSocketOptions): Socket {
  const family = isIPv6(address) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    recvBufferSize: bufferBytes,
    sendBufferSize: bufferBytes,
    ipv6Only: family === 6 && onlyFamily === true,
    lookup: (host, _, done) => done(null, host, family),
  });
  socket.on('error', () => undefined);
  return socket;
}

/** Whether the system accepts more at the moment. */
export function hasRoom(socket: Socket): boolean {
  return socket.getSendQueueSize() < MAX_QUEUED_BYTES;
}

/** Binds and returns the port. @throws Error of `bind`. */
export function bindUdp(socket: Socket, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', reject);
      resolve(socket.address().port);
    });
  });
}

/** Closes the socket; may be called more than once. */
export function closeUdp(socket: Socket): void {
  try {
    socket.close();
  } catch (error) {
    // It was closed before, by an error or by its owner.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SOCKET_DGRAM_NOT_RUNNING') throw error;
  }
}
