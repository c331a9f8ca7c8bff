import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { createUdpSocket as createSocket } from '@gatehouse/net';

/** What the system holds for us while we are busy; it may give less. */
const BUFFER_BYTES = 4 * 1024 * 1024;
/** Datagrams that wait for the network card; more are dropped. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

export interface UdpSocketOptions {
  /** An address of the family that the socket is for. */
  address: string;
  bufferBytes?: number;
  /** An IPv6 socket that takes no IPv4. */
  onlyFamily?: boolean;
}

/** For addresses only, never names: then no datagram waits for a resolver. Has an `error` listener. */
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

/** Whether the system takes more at the moment. */
export function hasRoom(socket: Socket): boolean {
  return socket.getSendQueueSize() < MAX_QUEUED_BYTES;
}

/** Binds and answers the port. @throws Error of `bind`. */
export function bindUdp(socket: Socket, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', reject);
      resolve(socket.address().port);
    });
  });
}

/** Gives the socket up; once is enough. */
export function closeUdp(socket: Socket): void {
  try {
    socket.close();
  } catch (error) {
    // It was closed before, by an error or by its owner.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SOCKET_DGRAM_NOT_RUNNING') throw error;
  }
}
