import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';
import { listenTcp } from './listen.js';

/**
 * What the system has of a listening socket, as Node sends it to another process (`process.send`) and listens on it
 * there (`server.listen`, `socket.bind`).
 */
export interface SocketHandle {
  close(): void;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/** A socket that another process may listen on in place of this one. */
export interface HandedSocket {
  /** Transport, host and port: who wants to listen there asks for it by that. */
  key: string;
  handle: SocketHandle;
}

type Transport = 'tcp' | 'udp';

/**
 * The ports of this process: bound here, or inherited from a process before that listens there still. A socket that is
 * handed on stays open all the time: connections wait in it until somebody accepts.
 */
export class ListeningSockets {
  private readonly inherited = new Map<string, SocketHandle>();
  private readonly open = new Map<string, () => SocketHandle | null>();

  /** Whoever listens at its place gets it. */
  inherit({ key, handle }: HandedSocket): void {
    this.inherited.get(key)?.close();
    this.inherited.set(key, handle);
  }

  /** Gives up those that nobody asked for. */
  closeInherited(): void {
    for (const handle of this.inherited.values()) handle.close();
    this.inherited.clear();
  }

  /** All that listen now. They are this process's still: who gets one listens beside it until it closes its own. */
  handles(): HandedSocket[] {
    return [...this.open].flatMap(([key, handleOf]) => {
      const handle = handleOf();
      return handle ? [{ key, handle }] : [];
    });
  }

  /** As `listenTcp`. */
  async listenTcp(server: Server, place: Place, onFailure: (error: Error) => void): Promise<number> {
    const port = await listenTcp(server, this.take('tcp', place) ?? place, onFailure);
    const key = keyOf('tcp', { ...place, port });
    const handleOf = (): SocketHandle | null => (server as unknown as { _handle: SocketHandle | null })._handle;
    this.open.set(key, handleOf);
    server.once('close', () => this.forget(key, handleOf));
    return port;
  }

  /** Binds and answers the port. @throws Error of `bind`. */
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
    // Another may listen there by now.
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

/** Node has it under a symbol of its own; null where that is no more: then the port is bound anew. */
function udpHandleOf(socket: UdpSocket): SocketHandle | null {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state = symbol && (socket as unknown as Record<symbol, { handle?: SocketHandle | null }>)[symbol];
  return state?.handle ?? null;
}
