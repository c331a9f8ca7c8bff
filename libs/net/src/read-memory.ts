import type { Socket } from 'node:net';

/** Before the bytes that are read, for a header of who sends them on. */
const ROOM_BYTES = 8;
const memories = new WeakSet<ArrayBufferLike>();

/** Buffers of one size: those that no socket reads into at the moment are kept for the next one. */
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

  /** `reusable`: no one may still be writing from it. */
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
 * `chunk` with so many bytes before it, whose content is nobody's: to write a header and what was read from a socket in
 * one piece. Null for memory that has no such room.
 */
export function withRoomBefore(chunk: Uint8Array, bytes: number): Buffer | null {
  if (chunk.byteOffset !== ROOM_BYTES || bytes > ROOM_BYTES || !memories.has(chunk.buffer)) return null;
  return Buffer.from(chunk.buffer, ROOM_BYTES - bytes, bytes + chunk.length);
}

/**
 * To the listeners of `socket`, or behind what waits for them: Node goes on reading for a socket that is paused in the turn in
 * which it was resumed first.
 */
export function deliverTo(socket: Socket & { release?(): void }, chunk: Buffer): void {
  if (socket.readableFlowing) return void socket.emit('data', chunk);
  socket.push(Buffer.from(chunk));
  socket.release?.();
}

/**
 * From new sockets to those that fill what they have: 2, 4 and 4 MiB kept. Reads of 256 KiB take a third less CPU than
 * those of 64, but 1,000 sockets of them would hold 256 MiB: the largest are for 64 sockets at a time.
 */
const pools = [
  new BufferPool(8 * 1024, { keep: 256 }),
  new BufferPool(64 * 1024, { keep: 64 }),
  new BufferPool(256 * 1024, { keep: 16, most: 64 }),
] as const;

/**
 * The memory that one socket reads into, in the form that `onread` of `net.Socket` wants. It is used again for the next
 * read where the listeners of the chunk released it, and for other sockets after this one.
 */
export class ReadMemory {
  private readonly emit: (chunk: Buffer) => void;
  private current: Buffer | null = null;
  private next: Buffer | null = null;
  /** Index of the pool that `current` is of. */
  private tier = 0;
  /** Whether no listener keeps anything of `current`. */
  private released = true;
  /** Something was read since Node asked last. */
  private wasRead = false;

  /** `emit`: hands a chunk to the listeners, who say inside it that they kept nothing. */
  constructor(emit: (chunk: Buffer) => void) {
    this.emit = emit;
  }

  release(): void {
    this.released = true;
  }

  /**
   * 8 to 256 KiB. Asked for each address that is dialled and then after every read, where anything but a buffer means
   * "keep the one you have". Before a read it would mean that the system reads elsewhere, and this memory is taken for it.
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
    // Already paused by a listener if it wanted to be.
    return true;
  }

  /** The socket is closed. */
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

  /** Larger after a read that filled it, smaller after one for which a smaller one had done. */
  private tierAfter(bytes: number): number {
    const { tier } = this;
    const above = pools[tier + 1];
    const below = pools[tier - 1];
    // A listener who cannot get rid of what is read needs no more at once.
    if (this.released && above && bytes === this.pool.size) return above.isExhausted ? tier : tier + 1;
    const isLess = below && (bytes <= below.size || (!this.released && tier === pools.length - 1));
    return isLess ? tier - 1 : tier;
  }
}
