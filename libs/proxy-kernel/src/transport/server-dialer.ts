import type { ByteStream } from '@gatehouse/net';
import type { DialGuard } from '../guard/target-guard.js';
import type { DialContext, Resolver } from '../interfaces/index.js';
import { openServerPackets, type ServerPackets } from './server-packets.js';
import { dialTcp } from './tcp.js';

export interface ServerDial extends DialContext {
  /** The caller builds TLS or HTTP/2 on the stream, so a plain socket is preferred. */
  plain?: boolean;
}

/** How an outbound reaches its node's server. */
export interface ServerDialer {
  /** Direct from this machine: the remote end of a stream is then the server itself. */
  readonly direct: boolean;
  /** Whether the server can be reached with datagrams at the moment. */
  readonly udp: boolean;
  /** Resolves paused. @throws DialError; the signal's reason when it is aborted. */
  connect(host: string, port: number, dial: ServerDial): Promise<ByteStream>;
  /** @throws DialError. */
  openPackets(host: string, port: number, dial: DialContext): Promise<ServerPackets>;
}

/** Dials from this machine, with names resolved by `resolver`. */
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
