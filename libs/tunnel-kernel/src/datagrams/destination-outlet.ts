import type { RemoteInfo, Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { HostAndPort } from '../environment.js';
import { TargetError } from '../errors.js';
import { dialFailure } from '../base/dial-failure.js';
import { resolveAllowed, type Outlet, type OutletOptions } from './target-outlet.js';
import { bindUdp, closeUdp, createUdpSocket, hasRoom } from '../base/udp-socket.js';

/** Cached destinations per session; the least recently used is evicted first. */
const MAX_DESTINATIONS = 256;
/** How long a resolved name, or a refused destination, is cached. */
const REMEMBER_MS = 30_000;
const MAX_WAITING = 32;
const BUFFER_BYTES = 1024 * 1024;

interface Destination {
  /** Null: not allowed, or without an address. */
  address: string | null;
  at: number;
  /** Set while the name is being resolved. */
  waiting: Buffer[] | null;
}

/**
 * Sends to any destination that the rules allow, from one port per address family, and accepts answers only from
 * addresses it has sent to.
 */
export class DestinationOutlet implements Outlet {
  private readonly options: OutletOptions;
  private readonly sockets: { 4: Promise<Socket> | null; 6: Promise<Socket> | null } = { 4: null, 6: null };
  private readonly ready: { 4: Socket | null; 6: Socket | null } = { 4: null, 6: null };
  private readonly destinations = new Map<string, Destination>();
  private readonly peers = new Map<string, true>();
  private closed = false;

  constructor(options: OutletOptions) {
    this.options = options;
  }

  send(payload: Buffer, destination: HostAndPort | null): void {
    if (this.closed || !destination || destination.port === 0) return;
    const key = `${destination.host}:${destination.port}`;
    const known = this.destinations.get(key);
    if (known?.waiting) {
      if (known.waiting.length < MAX_WAITING) known.waiting.push(Buffer.from(payload));
    } else if (known && this.options.now() - known.at < REMEMBER_MS) {
      if (known.address !== null) this.sendTo(payload, known.address, destination.port);
    } else this.resolve(key, destination, payload);
  }

  /** Checks all destinations again, and accepts no answers from those that were not checked yet. */
  reconfigured(): boolean {
    for (const [key, { waiting }] of this.destinations) if (!waiting) this.destinations.delete(key);
    this.peers.clear();
    return true;
  }

  close(): void {
    this.closed = true;
    for (const socket of [this.ready[4], this.ready[6]]) if (socket) closeUdp(socket);
  }

  private resolve(key: string, destination: HostAndPort, payload: Buffer): void {
    const { now, allows, onFailure } = this.options;
    const entry: Destination = { address: null, at: now(), waiting: [Buffer.from(payload)] };
    remember(this.destinations, key, entry);
    resolveAllowed(destination, allows)
      .then((address) => (entry.address = address))
      .catch((error: unknown) =>
        onFailure(error instanceof TargetError ? error.reason : dialFailure(error), destination),
      )
      .finally(() => {
        const { address, waiting } = entry;
        entry.waiting = null;
        entry.at = now();
        if (address !== null) for (const held of waiting ?? []) this.sendTo(held, address, destination.port);
      });
  }

  private sendTo(payload: Buffer, address: string, port: number): void {
    if (this.closed) return;
    const family = isIPv6(address) ? 6 : 4;
    remember(this.peers, `${address}:${port}`, true);
    const socket = this.ready[family];
    if (socket) {
      if (hasRoom(socket)) socket.send(payload, port, address);
      return;
    }
    const held = Buffer.from(payload);
    this.sockets[family] ??= this.bind(family);
    this.sockets[family].then(
      (bound) => !this.closed && bound.send(held, port, address),
      (error: unknown) => {
        this.sockets[family] = null;
        this.options.onFailure(dialFailure(error), { host: address, port });
      },
    );
  }

  private async bind(family: 4 | 6): Promise<Socket> {
    const any = family === 6 ? '::' : '0.0.0.0';
    const socket = createUdpSocket({ address: any, bufferBytes: BUFFER_BYTES, onlyFamily: true });
    await bindUdp(socket, any, 0);
    if (this.closed) closeUdp(socket);
    socket.on('message', (payload, from) => this.receive(payload, from));
    this.ready[family] = socket;
    return socket;
  }

  private receive(payload: Buffer, { address, port }: RemoteInfo): void {
    if (!this.peers.has(`${address}:${port}`)) return;
    this.options.onDatagram(payload, { host: address, port });
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_DESTINATIONS && oldest !== undefined) map.delete(oldest);
}
