import { dialTls, listenTo, type Place } from './sockets.js';

export interface Visit {
  tunnelId: number;
  secret: string;
}

/** First words of a visitor's program (docs/tunnel-protocol.md): purpose 1 is a connection, 2 a direct path. */
export function visitOf(purpose: 1 | 2, { tunnelId, secret }: Visit): Buffer {
  const head = Buffer.alloc(9);
  head[0] = purpose;
  head.writeBigUInt64BE(BigInt(tunnelId), 1);
  return Buffer.concat([head, Buffer.from(secret, 'latin1')]);
}

/** The gateway's answer to a connection with a key: 0 is a welcome, null none at all. */
export async function visit(place: Place, { tunnelId, secret }: Visit, withinMs = 10_000): Promise<number | null> {
  const socket = await dialTls(place, 'gwv/1', withinMs).catch(() => null);
  if (socket === null) return null;
  socket.write(visitOf(1, { tunnelId, secret }));
  const { text } = await listenTo(socket, (received) => received.length > 0, withinMs);
  socket.destroy();
  return text === '' ? null : text.charCodeAt(0);
}
