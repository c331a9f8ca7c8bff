import type { Socket } from 'node:net';

/** Space before the bytes that are read, for the header of a sender that passes them on. */
const ROOM_BYTES = 8;
const memories = new WeakSet<ArrayBufferLike>();

/** Buffers of one size. Those that no socket is reading into are kept for the next socket. */
class BufferPool {
  readonly size: number;
  private readonly keep: number;
  private readonly most: number;
  private readonly free: Buffer[] = [];
  private taken = 0;

  constructor(size: number, { keep, most = Infinity }: { keep: number; most?: number }) {
    this.size = size;
    this.keep = keep;
    this.most = most;
  }

  get isExhausted(): boolean {
    return this.taken >= this.most;
  }

  take(): Buffer {
    this.taken += 1;
    return this.free.pop() ?? allocate(this.size);
  }

  /** `reusable`: nothing is still being written from the buffer. */
  give(buffer: Buffer, reusable: boolean): void {
    this.taken -= 1;
    if (reusable && this.free.length < this.keep) this.free.push(buffer);
  }
}

function allocate(bytes: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(ROOM_BYTES + bytes);
  memories.add(memory.buffer);
  return memory.subarray(ROOM_BYTES);
}

/**
 * Returns `chunk` with `bytes` unused bytes before it, so that a header and the data can be written in one piece. Null for
 * memory without that space.
 */
export function withRoomBefore(chunk: Uint8Array, bytes: number): Buffer | null {
  if (chunk.byteOffset !== ROOM_BYTES || bytes > ROOM_BYTES || !memories.has(chunk.buffer)) return null;
  return Buffer.from(chunk.buffer, ROOM_BYTES - bytes, bytes + chunk.length);
}

/**
 * Emits a chunk to the listeners of `socket`, or queues it behind what waits for them: Node keeps reading for a socket that
 * is paused in the same turn in which it was first resumed.
 */
export function deliverTo(socket: Socket & { release?(): void }, chunk: Buffer): void {
  if (socket.readableFlowing) return void socket.emit('data', chunk);
  socket.push(Buffer.from(chunk));
  socket.release?.();
}

/**
 * Sizes for new sockets up to those that fill their buffer; 2, 4 and 4 MiB are kept. Reads of 256 KiB take a third less CPU
 * than those of 64 KiB, but 1,000 sockets would need 256 MiB: only 64 sockets at a time have the largest.
 */
const pools = [
  new BufferPool(8 * 1024, { keep: 256 }),
  new BufferPool(64 * 1024, { keep: 64 }),
  new BufferPool(256 * 1024, { keep: 16, most: 64 }),
] as const;

/**
 * The memory that one socket reads into, in the form that `onread` of `net.Socket` wants. It is reused for the next read if
 * the listeners released the chunk, and for other sockets after this one.
 */
export class ReadMemory {
  private readonly emit: (chunk: Buffer) => void;
  private current: Buffer | null = null;
  private next: Buffer | null = null;
  /** Index of the pool that `current` comes from. */
  private tier = 0;
  /** Whether no listener has kept a part of `current`. */
  private released = true;
  /** Whether something was read since Node's last request for a buffer. */
  private wasRead = false;

  /** `emit` passes a chunk to the listeners, which call `release` inside it if they kept nothing. */
  constructor(emit: (chunk: Buffer) => void) {
    this.emit = emit;
  }

  release(): void {
    this.released = true;
  }

  /**
   * Returns a buffer of 8 to 256 KiB. Node calls this for each address that is dialled and after every read. It must always
   * return a buffer: anything else before a read makes the system read elsewhere, while this memory is passed on as read.
   */
  nextBuffer(): Buffer {
    const isNew = !this.wasRead;
    this.wasRead = false;
    if (this.current === null) this.current = pools[0].take();
    else if (this.next === null) return isNew ? this.current : (undefined as unknown as Buffer);
    else this.current = this.next;
    this.next = null;
    this.released = true;
    return this.current;
  }

  received(bytes: number): boolean {
    const buffer = this.current;
    if (buffer === null) return true;
    this.released = false;
    this.wasRead = true;
    this.emit(bytes === buffer.length ? buffer : buffer.subarray(0, bytes));
    if (this.current !== null) this.chooseNext(buffer, bytes);
    // A listener that wanted to pause the socket has already done so.
    return true;
  }

  /** Returns the memory to its pool when the socket is closed. */
  recycle(): void {
    if (this.next !== null) this.pool.give(this.next, true);
    else if (this.current !== null) this.pool.give(this.current, this.released);
    this.current = null;
    this.next = null;
  }

  private get pool(): BufferPool {
    return pools[this.tier] as BufferPool;
  }

  private chooseNext(buffer: Buffer, bytes: number): void {
    const tier = this.tierAfter(bytes);
    if (this.released && tier === this.tier) return;
    this.pool.give(buffer, this.released);
    this.tier = tier;
    this.next = this.pool.take();
  }

  /** A larger size after a read that filled the buffer, a smaller one after a read that would have fitted a smaller one. */
  private tierAfter(bytes: number): number {
    const { tier } = this;
    const above = pools[tier + 1];
    const below = pools[tier - 1];
    // A listener that cannot pass on what was read does not need larger reads.
    if (this.released && above && bytes === this.pool.size) return above.isExhausted ? tier : tier + 1;
    const isLess = below && (bytes <= below.size || (!this.released && tier === pools.length - 1));
    return isLess ? tier - 1 : tier;
  }
}
