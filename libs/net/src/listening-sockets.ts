import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';
import { listenTcp } from './listen.js';

/**
 * The system's handle of a listening socket. Node can send it to another process (`process.send`), which can listen on it
 * (`server.listen`, `socket.bind`).
 */
export interface SocketHandle {
  close(): void;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** A listening socket that is passed to another process. */
export interface HandedSocket {
  /** Transport, host and port, by which the other process finds it. */
  key: string;
  handle: SocketHandle;
}

type Transport = 'tcp' | 'udp';

/**
 * The ports of this process: bound here, or inherited from a previous process that still listens there. A socket that is
 * passed on stays open all the time: connections wait in its queue until a process accepts them.
 */
export class ListeningSockets {
  private readonly inherited = new Map<string, SocketHandle>();
  private readonly open = new Map<string, () => SocketHandle | null>();

  /** Keeps a socket for the next listener on its host and port. */
  inherit({ key, handle }: HandedSocket): void {
    this.inherited.get(key)?.close();
    this.inherited.set(key, handle);
  }

  /** Closes the inherited sockets that were not used. */
  closeInherited(): void {
    for (const handle of this.inherited.values()) handle.close();
    this.inherited.clear();
  }

  /** All listening sockets. They stay open here: a process that receives one listens beside this one until this one closes it. */
  handles(): HandedSocket[] {
    return [...this.open].flatMap(([key, handleOf]) => {
      const handle = handleOf();
      return handle ? [{ key, handle }] : [];
    });
  }

  /** Like the function `listenTcp`, with an inherited socket where there is one. */
  async listenTcp(server: Server, place: Place, onFailure: (error: Error) => void): Promise<number> {
    const port = await listenTcp(server, this.take('tcp', place) ?? place, onFailure);
    const key = keyOf('tcp', { ...place, port });
    const handleOf = (): SocketHandle | null => (server as unknown as { _handle: SocketHandle | null })._handle;
    this.open.set(key, handleOf);
    server.once('close', () => this.forget(key, handleOf));
    return port;
  }

  /** Binds the socket and returns the port. @throws Error of `bind`. */
  async bindUdp(socket: UdpSocket, address: string, place: Place): Promise<number> {
    const port = await bind(socket, this.take('udp', place) ?? { address, port: place.port, exclusive: true });
    const key = keyOf('udp', { ...place, port });
    const handleOf = (): SocketHandle | null => udpHandleOf(socket);
    this.open.set(key, handleOf);
    socket.once('close', () => this.forget(key, handleOf));
    return port;
  }

  private take(transport: Transport, place: Place): SocketHandle | null {
    const key = keyOf(transport, place);
    const handle = this.inherited.get(key) ?? null;
    this.inherited.delete(key);
    return handle;
  }

  private forget(key: string, handleOf: () => SocketHandle | null): void {
    // Another socket may listen there by now.
    if (this.open.get(key) === handleOf) this.open.delete(key);
  }
}

function keyOf(transport: Transport, { host, port }: Place): string {
  return `${transport} ${host} ${port}`;
}

function bind(
  socket: UdpSocket,
  to: SocketHandle | { address: string; port: number; exclusive: true },
): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(to as { address: string; port: number }, () => {
      socket.off('error', reject);
      resolve(socket.address().port);
    });
  });
}

/** Node keeps it under an internal symbol. Null if a version of Node does not: then the port is bound again. */
function udpHandleOf(socket: UdpSocket): SocketHandle | null {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state = symbol && (socket as unknown as Record<symbol, { handle?: SocketHandle | null }>)[symbol];
  return state?.handle ?? null;
}
