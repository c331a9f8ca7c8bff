import type { ByteStream } from '@gatehouse/net';
import { DialError, type DialContext, type Outbound, type PacketConnection, type Target } from '../interfaces/index.js';
import { toDialError } from './dial-error.js';
import type { ServerDialer } from './server-dialer.js';
import type { ServerPackets } from './server-packets.js';

/** The hop of the next dial. It is asked each time, since a group may have switched. */
export interface Hop {
  /** The name that users see, for messages. */
  readonly name: string;
  readonly udp: boolean;
  /** @throws DialError when there is none. */
  outbound(server: Target, network: 'tcp' | 'udp'): Outbound;
}

/** Reaches a server through another outbound. */
export function createChainDialer(hop: Hop): ServerDialer {
  return {
    direct: false,
    get udp() {
      return hop.udp;
    },
    connect: (host, port, dial) => connectThrough(hop, { host, port }, dial),
    openPackets: (host, port, dial) => openPacketsThrough(hop, { host, port }, dial),
  };
}

/** A hop that is always the same outbound. */
export function fixedHop(outbound: Outbound): Hop {
  return {
    name: outbound.tag,
    get udp() {
      return outbound.udp;
    },
    outbound: () => outbound,
  };
}

async function connectThrough(hop: Hop, server: Target, { signal, onStage }: DialContext): Promise<ByteStream> {
  try {
    const stream = await hop.outbound(server, 'tcp').connect(server, { signal, onStage: hopStages(onStage) });
    onStage?.('connect');
    return stream;
  } catch (error) {
    throw hopError(hop, error, signal);
  }
}

async function openPacketsThrough(hop: Hop, server: Target, { signal, onStage }: DialContext): Promise<ServerPackets> {
  try {
    const outbound = hop.outbound(server, 'udp');
    if (!outbound.udp || !outbound.openPackets) throw new DialError('dial', 'other', 'it carries no UDP');
    const packets = await outbound.openPackets({ signal, onStage: hopStages(onStage) });
    onStage?.('connect');
    return toServer(packets, server);
  } catch (error) {
    throw hopError(hop, error, signal);
  }
}

function toServer(packets: PacketConnection, server: Target): ServerPackets {
  return {
    send: (bytes) => packets.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), server),
    onMessage: (listener) =>
      packets.onMessage((payload, from) => {
        // A server given by host name answers from an address, so that only the port can be compared.
        if (from.port === server.port) listener(payload);
      }),
    onClose: (listener) => packets.onClose(listener),
    close: () => packets.close(),
  };
}

/** The stages of a hop without its greeting, which says nothing about the server behind it. */
function hopStages(onStage: DialContext['onStage']): DialContext['onStage'] {
  return onStage && ((stage) => stage !== 'greeting' && onStage(stage));
}

/** Adds that the hop failed, not the server. The reason of an aborted signal is not changed. */
function hopError(hop: Hop, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && error === signal.reason) return error;
  const { stage, kind, message } = toDialError(error, 'dial');
  return new DialError(stage, kind, `through ${hop.name}: ${message}`, { cause: error });
}
