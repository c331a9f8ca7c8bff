import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';

export interface Place {
  port: number;
  /** Address of the caller. */
  from?: string;
}

/** A connection to a port of this machine, from an address of the caller's choice. */
export function dial({ port, from }: Place, allowHalfOpen = false): Socket {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen, ...(from !== undefined && { localAddress: from }) });
  return socket.on('error', () => undefined);
}

/** One that is there: false where it was refused. */
export async function reached(socket: Socket, timeoutMs = 5_000): Promise<boolean> {
  if (!socket.connecting) return !socket.destroyed;
  const signal = AbortSignal.timeout(timeoutMs);
  return once(socket, 'connect', { signal }).then(
    () => true,
    () => false,
  );
}

export interface Received {
  /** As latin1. */
  text: string;
  /** The other side ended or reset it. */
  isOver: boolean;
  milliseconds: number;
}

/** Says something and listens until `isEnough`, the end, or the time is up; the connection is then destroyed. */
export async function converse(
  place: Place,
  say: string | Buffer,
  { isEnough = () => false, withinMs = 12_000 }: { isEnough?: (text: string) => boolean; withinMs?: number } = {},
): Promise<Received> {
  const socket = dial(place);
  socket.write(say);
  try {
    return await listenTo(socket, isEnough, withinMs);
  } finally {
    socket.destroy();
  }
}

/** What a socket says until `isEnough`, its end, or the time is up. */
export function listenTo(socket: Socket, isEnough: (text: string) => boolean, withinMs: number): Promise<Received> {
  const began = performance.now();
  let text = '';
  return new Promise((resolve) => {
    const settle = (isOver: boolean): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('end', onEnd).off('close', onEnd);
      resolve({ text, isOver, milliseconds: performance.now() - began });
    };
    const onData = (part: Buffer): void => {
      if (text.length < 1_000_000) text += part.toString('latin1');
      if (isEnough(text)) settle(false);
    };
    const onEnd = (): void => settle(true);
    const timer = setTimeout(() => settle(false), withinMs);
    socket.on('data', onData).on('end', onEnd).on('close', onEnd);
    if (socket.destroyed) onEnd();
  });
}

/** Opens many connections, a few hundred at a time, and lets each be treated. Those that were refused are left out. */
export async function connectMany(
  count: number,
  place: () => Place,
  treat: (socket: Socket) => void,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 200) {
    const some = Array.from({ length: Math.min(200, count - at) }, () => dial(place()));
    await Promise.all(
      some.map(async (socket) => {
        if (await reached(socket)) treat(socket);
        else socket.destroy();
      }),
    );
    sockets.push(...some.filter((socket) => !socket.destroyed));
  }
  return sockets;
}

/** A connection whose handshake is done, whatever the certificate. @throws Error where it does not come to that */
export async function dialTls(
  place: Place & { name?: string },
  protocol: string,
  timeoutMs = 10_000,
): Promise<TLSSocket> {
  const socket = connectTls({
    socket: dial(place),
    ALPNProtocols: [protocol],
    rejectUnauthorized: false,
    ...(place.name !== undefined && { servername: place.name }),
  });
  socket.on('error', () => undefined);
  try {
    await Promise.race([
      once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) }),
      once(socket, 'close').then(() => Promise.reject(new Error('closed in the handshake'))),
    ]);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A server whose every connection is handed to `serve`; it counts those that are open. */
export class RawServer {
  readonly open = new Set<Socket>();
  /** Connections since the start. */
  total = 0;
  private static readonly running = new Set<RawServer>();

  private constructor(
    private readonly server: Server,
    readonly address: string,
    readonly port: number,
  ) {}

  static async start(serve: (socket: Socket) => void, address = '127.0.0.1'): Promise<RawServer> {
    const server = createServer();
    server.listen({ port: 0, host: address, backlog: 4_096 });
    await once(server, 'listening');
    const raw = new RawServer(server, address, (server.address() as AddressInfo).port);
    RawServer.running.add(raw);
    server.on('connection', (socket) => {
      raw.total += 1;
      raw.open.add(socket);
      socket.on('error', () => undefined).on('close', () => raw.open.delete(socket));
      serve(socket);
    });
    return raw;
  }

  close(): void {
    RawServer.running.delete(this);
    for (const socket of this.open) socket.destroy();
    this.server.close();
  }

  /** Those, too, that an attack left open because it failed. */
  static closeAll(): void {
    for (const server of RawServer.running) server.close();
  }
}

/** Resolves to whether it became true in time. */
export async function becomes(condition: () => boolean, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > end) return false;
    await delay(50);
  }
  return true;
}
