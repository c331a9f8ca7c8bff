import type { Socket } from 'node:dgram';
import { isIP, isIPv6 } from 'node:net';
import { createUdpSocket } from '@gatehouse/net';
import type { DialGuard } from '../../guard/target-guard.js';
import { isUnspecified } from '../../transport/normal-host.js';
import { DialError, type PacketConnection, type Resolver, type Target } from '../../interfaces/index.js';

/** The most domains of one association with cached addresses. */
const MAX_NAMES = 256;
/** Datagrams that wait for a name to be resolved. */
const MAX_WAITING = 16;

interface Name {
  ip: string | null;
  waiting: { payload: Buffer; target: Target }[];
}

/** UDP from this machine. There is one socket per family, opened on first use, so that a peer sees one source port. */
export function openDirectPackets(resolver: Resolver, guard: DialGuard | null = null): PacketConnection {
  return new DirectPackets(resolver, guard);
}

class DirectPackets implements PacketConnection {
  private readonly resolver: Resolver;
  private readonly sockets = new Map<4 | 6, Socket>();
  private readonly names = new Map<string, Name>();
  private readonly messageListeners: ((payload: Buffer, from: Target) => void)[] = [];
  private readonly closeListeners: ((error?: Error) => void)[] = [];
  private readonly guard: DialGuard | null;
  private closed = false;

  constructor(resolver: Resolver, guard: DialGuard | null) {
    this.resolver = resolver;
    this.guard = guard;
  }

  send(payload: Buffer, target: Target): void {
    const { host, ips } = target;
    if (this.closed) return;
    if (isIP(host)) return this.transmit(payload, host, target);
    const known = this.names.get(host);
    if (known?.ip) return this.transmit(payload, known.ip, target);
    if (known) {
      if (known.waiting.length < MAX_WAITING) known.waiting.push({ payload, target });
      return;
    }
    this.resolveName(host, ips, { ip: null, waiting: [{ payload, target }] });
  }

  async resolve({ host, ips }: Target): Promise<string> {
    if (isIP(host)) return host;
    const known = this.names.get(host)?.ip;
    if (known) return known;
    const found = ips?.length ? ips : await this.resolver.resolve(host);
    const ip = found.find((address) => !isUnspecified(address));
    if (ip === undefined) throw new DialError('dns', 'dns_error', `${host} has no address`);
    this.remember(host, { ip, waiting: this.names.get(host)?.waiting ?? [] });
    return ip;
  }

  onMessage(listener: (payload: Buffer, from: Target) => void): void {
    this.messageListeners.push(listener);
  }

  onClose(listener: (error?: Error) => void): void {
    this.closeListeners.push(listener);
  }

  close(): void {
    this.end();
  }

  private resolveName(host: string, ips: readonly string[] | undefined, name: Name): void {
    this.remember(host, name);
    const addresses = ips?.length ? Promise.resolve([...ips]) : this.resolver.resolve(host);
    addresses.then(
      (found) => {
        const ip = found.find((address) => !isUnspecified(address));
        if (ip === undefined || this.closed) return this.names.delete(host);
        name.ip = ip;
        for (const { payload, target } of name.waiting.splice(0)) this.transmit(payload, ip, target);
        return true;
      },
      // A datagram to a name that does not resolve is lost; the next one tries again.
      () => this.names.delete(host),
    );
  }

  private remember(host: string, name: Name): void {
    const [oldest] = this.names.keys();
    if (oldest !== undefined && this.names.size >= MAX_NAMES) this.names.delete(oldest);
    this.names.set(host, name);
  }

  private transmit(payload: Buffer, ip: string, target: Target): void {
    if (this.closed || this.guard?.permits(ip, target) === false) return;
    // The callback gets errors of this datagram only (unreachable, too long), which UDP may lose anyway.
    this.socket(isIPv6(ip) ? 6 : 4).send(payload, target.port, ip, () => undefined);
  }

  private socket(family: 4 | 6): Socket {
    const known = this.sockets.get(family);
    if (known) return known;
    const socket = createUdpSocket({ type: family === 4 ? 'udp4' : 'udp6', ipv6Only: family === 6 });
    socket.on('message', (payload, { address, port }) => {
      for (const listener of this.messageListeners) listener(payload, { host: address, port });
    });
    socket.on('error', (error) => this.end(error));
    this.sockets.set(family, socket);
    return socket;
  }

  private end(error?: Error): void {
    if (this.closed) return;
    this.closed = true;
    for (const socket of this.sockets.values()) socket.close();
    this.names.clear();
    for (const listener of this.closeListeners) listener(error);
  }
}
