import { isIP } from 'node:net';
import type { ByteStream } from '@gatehouse/net';
import type { DialContext, Outbound, PacketConnection, Resolver, Target } from '../../interfaces/index.js';
import { dialTcp } from '../../transport/tcp.js';
import { openDirectPackets } from './packets.js';

/** Connects from this machine. */
export class DirectOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'direct';
  readonly udp = true;
  private readonly resolver: Resolver;

  constructor(tag: string, resolver: Resolver) {
    this.tag = tag;
    this.resolver = resolver;
  }

  async connect({ host, port, ips }: Target, context: DialContext): Promise<ByteStream> {
    return dialTcp({ host, port, ips: isIP(host) ? undefined : ips, resolver: this.resolver, ...context });
  }

  openPackets(_context: DialContext): Promise<PacketConnection> {
    return Promise.resolve(openDirectPackets(this.resolver));
  }
}
