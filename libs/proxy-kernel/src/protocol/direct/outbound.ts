import { isIP } from 'node:net';
import { isPublicAddress, type ByteStream } from '@gatehouse/net';
import type { DialGuard } from '../../guard/target-guard.js';
import {
  ForbiddenTargetError,
  type DialContext,
  type Outbound,
  type PacketConnection,
  type Resolver,
  type Target,
} from '../../interfaces/index.js';
import { dialTcp } from '../../transport/tcp.js';
import { openDirectPackets } from './packets.js';

/** Connects from this machine. */
export class DirectOutbound implements Outbound {
  readonly tag: string;
  readonly type = 'direct';
  readonly udp = true;
  private readonly resolver: Resolver;

  private readonly guard: DialGuard | null;

  constructor(tag: string, resolver: Resolver, guard: DialGuard | null = null) {
    this.tag = tag;
    this.resolver = resolver;
    this.guard = guard;
  }

  /** @throws ForbiddenTargetError in addition to the errors of every outbound. */
  async connect(target: Target, context: DialContext): Promise<ByteStream> {
    const { host, port, ips } = target;
    const permit = (addresses: readonly string[]): Promise<void> | void => {
      if (target.publicOnly === true) assertPublic(addresses, target);
      return this.guard?.check(addresses, target);
    };
    return dialTcp({ host, port, ips: isIP(host) ? undefined : ips, resolver: this.resolver, permit, ...context });
  }

  openPackets(_context: DialContext): Promise<PacketConnection> {
    return Promise.resolve(openDirectPackets(this.resolver, this.guard));
  }
}

function assertPublic(addresses: readonly string[], { host, port }: Target): void {
  if (addresses.every(isPublicAddress)) return;
  throw new ForbiddenTargetError(
    `${host}:${port} is in a private or reserved network, and its client does not allow these`,
  );
}
