import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { FramedStream } from '../src/wire/framed-stream.js';
import type { ReusableChannelStream } from '../src/wire/reusable-channel-stream.js';
import { channelKeys } from '../src/wire/sealed-records.js';
import { SealedStream } from '../src/wire/sealed-stream.js';

const cleanups: (() => unknown)[] = [];

/** To be called after each test. */
export function closePairs(): void {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
}

export type Side = 'agent' | 'server';
export type Sockets = Record<Side, Socket>;

/** Both ends of a TCP connection, paused. */
export async function sockets(): Promise<Sockets> {
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const agent = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [server] = (await once(listener, 'connection')) as [Socket];
  agent.pause();
  for (const socket of [agent, server]) socket.on('error', () => undefined);
  cleanups.push(() => {
    agent.destroy();
    server.destroy();
    listener.close();
  });
  return { agent, server };
}

/** One channel, whose streams follow each other. */
export class ChannelPair {
  readonly sockets: Sockets;
  readonly freed = { agent: 0, server: 0 };
  readonly onFree: Partial<Record<Side, () => void>> = {};
  readonly wanted = { agent: true, server: true };
  private readonly streams: Partial<Record<Side, ReusableChannelStream>> = {};
  private readonly sealed: boolean;
  private readonly readyMs: number;
  private readonly keys = channelKeys({ id: randomBytes(16), key: randomBytes(32) });

  constructor(sealed: boolean, both: Sockets, readyMs = 60_000) {
    this.sealed = sealed;
    this.readyMs = readyMs;
    this.sockets = both;
  }

  next(side: Side): ReusableChannelStream {
    const before = this.streams[side];
    const socket = this.sockets[side];
    const stream = this.sealed
      ? before instanceof SealedStream
        ? before.next()
        : new SealedStream(socket, this.keys, side)
      : new FramedStream(socket);
    this.streams[side] = stream;
    stream.reuseWith({
      side,
      readyMs: this.readyMs,
      wanted: () => this.wanted[side],
      free: () => {
        this.freed[side] += 1;
        this.onFree[side]?.();
      },
    });
    return stream;
  }
}

/** What came of a stream, and how that ended. */
export interface Read {
  bytes: Buffer[];
  end: 'open' | 'ended' | 'aborted';
}

export function read(stream: ReusableChannelStream): Read {
  const seen: Read = { bytes: [], end: 'open' };
  stream.on('data', (part) => seen.bytes.push(Buffer.from(part)));
  stream.on('end', () => (seen.end = 'ended'));
  stream.on('close', () => (seen.end = seen.end === 'ended' ? 'ended' : 'aborted'));
  stream.resume();
  return seen;
}
