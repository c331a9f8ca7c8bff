import type { Server, Socket } from 'node:net';
import { createTcpServer, releaseListenersOnClose, type ListeningSockets } from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort } from '../environment.js';
import type { Entrance } from './mode.js';

/** Visitors of one port; the limit of descriptors applies as well. */
const MAX_CONNECTIONS = 32_768;

/** A public port: passes visitors on as paused, half-open sockets. */
export class TcpEntrance implements Entrance {
  private readonly sockets: ListeningSockets;
  private readonly address: HostAndPort;
  private readonly server: Server;
  private readonly onFailure: (error: Error) => void;
  private bound = 0;

  constructor(
    sockets: ListeningSockets,
    address: HostAndPort,
    onVisitor: (socket: Socket) => void,
    onFailure: (error: Error) => void,
  ) {
    this.sockets = sockets;
    this.address = address;
    this.onFailure = onFailure;
    this.server = createTcpServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
      (socket) => {
        socket.on('error', () => undefined);
        releaseListenersOnClose(socket);
        onVisitor(socket);
      },
    );
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  get port(): number {
    return this.bound;
  }

  async listen(): Promise<void> {
    this.bound = await this.sockets.listenTcp(this.server, this.address, this.onFailure);
  }

  close(): void {
    this.bound = 0;
    this.server.close();
  }
}
