import type { ByteStream } from '@gatehouse/net';
import type { DialGuard } from '../guard/target-guard.js';
import type { DialContext, Resolver } from '../interfaces/index.js';
import { openServerPackets, type ServerPackets } from './server-packets.js';
import { dialTcp } from './tcp.js';

export interface ServerDial extends DialContext {
  /** A stream that something else is built on (TLS, HTTP/2): a plain socket where it is one. */
  plain?: boolean;
}

/** How an outbound reaches its node's server. */
export interface ServerDialer {
  /** From this machine: then the other end of a stream is the server itself. */
  readonly direct: boolean;
  /** Whether datagrams reach the server at the moment. */
  readonly udp: boolean;
  /** Resolves paused. @throws DialError; the signal's reason when it is aborted. */
  connect(host: string, port: number, dial: ServerDial): Promise<ByteStream>;
  /** @throws DialError. */
  openPackets(host: string, port: number, dial: DialContext): Promise<ServerPackets>;
}

/** From this machine, names resolved by `resolver`. */
export function createDirectDialer(resolver: Resolver, guard: DialGuard | null = null): ServerDialer {
  return {
    direct: true,
    udp: true,
    connect: (host, port, dial) => {
      const permit = (addresses: readonly string[]): Promise<void> | void => guard?.check(addresses, { host, port });
      return dialTcp({ host, port, resolver, permit, ...dial });
    },
    openPackets: (host, port, dial) => openServerPackets(host, port, resolver, dial),
  };
}
