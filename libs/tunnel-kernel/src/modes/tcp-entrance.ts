import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort } from '../environment.js';
import type { Entrance } from './mode.js';

const BACKLOG = 4096;
/** Visitors of one port; the process has its own limit of descriptors below or above this. */
const MAX_CONNECTIONS = 32_768;

/** A public port: hands over visitors as paused sockets that may close each direction on its own. */
export class TcpEntrance implements Entrance {
  private readonly address: HostAndPort;
  private readonly server: Server;
  private bound = 0;

  constructor(address: HostAndPort, onVisitor: (socket: Socket) => void, onFailure: (error: Error) => void) {
    this.address = address;
    this.server = createServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      },
      (socket) => {
        socket.on('error', () => undefined);
        onVisitor(socket);
      },
    );
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.on('error', onFailure);
  }

  get port(): number {
    return this.bound;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ ...this.address, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        this.bound = (this.server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  close(): void {
    this.bound = 0;
    this.server.close();
  }
}
