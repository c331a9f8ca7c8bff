const SMALL_BYTES = 8 * 1024;
const LARGE_BYTES = 64 * 1024;
/** Before the bytes that are read, for a header of who sends them on. */
const ROOM_BYTES = 8;
const memories = new WeakSet<ArrayBufferLike>();

/** Buffers that no socket reads into at the moment, kept for the next one. */
class BufferPool {
  private readonly size: number;
  private readonly limit: number;
  private readonly free: Buffer[] = [];

  constructor(size: number, limit: number) {
    this.size = size;
    this.limit = limit;
  }

  take(): Buffer {
    return this.free.pop() ?? allocate(this.size);
  }

  /** Only what no one may still be writing from. */
  give(buffer: Buffer): void {
    if (this.free.length < this.limit) this.free.push(buffer);
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

/** For busy sockets: 4 MiB. */
const large = new BufferPool(LARGE_BYTES, 64);
/** For new sockets: 2 MiB. */
const small = new BufferPool(SMALL_BYTES, 256);

function poolOf(buffer: Buffer): BufferPool {
  return buffer.length === LARGE_BYTES ? large : small;
}

/**
 * The memory that one socket reads into, in the form that `onread` of `net.Socket` wants. It is used again for the next
 * read where the listeners of the chunk released it, and for other sockets after this one.
 */
export class ReadMemory {
  private readonly emit: (chunk: Buffer) => void;
  private current: Buffer | null = null;
  private next: Buffer | null = null;
  /** Whether no listener keeps anything of `current`. */
  private released = true;

  /** `emit`: hands a chunk to the listeners, who say inside it that they kept nothing. */
  constructor(emit: (chunk: Buffer) => void) {
    this.emit = emit;
  }

  release(): void {
    this.released = true;
  }

  /** Asked once at first and then after every read; anything but a buffer means "keep the one you have". */
  takeNext(): Buffer {
    if (this.current === null) this.current = small.take();
    else if (this.next === null) return undefined as unknown as Buffer;
    else this.current = this.next;
    this.next = null;
    this.released = true;
    return this.current;
  }

  received(bytes: number): boolean {
    const buffer = this.current;
    if (buffer === null) return true;
    this.released = false;
    this.emit(bytes === buffer.length ? buffer : buffer.subarray(0, bytes));
    this.chooseNext(buffer, bytes);
    // Already paused by a listener if it wanted to be.
    return true;
  }

  /** The socket is closed. */
  giveBack(): void {
    if (this.released && this.current !== null) poolOf(this.current).give(this.current);
    this.current = null;
  }

  private chooseNext(buffer: Buffer, bytes: number): void {
    const full = bytes === buffer.length;
    const wanted = full || (buffer.length === LARGE_BYTES && bytes > SMALL_BYTES) ? large : small;
    if (this.released && poolOf(buffer) === wanted) return;
    this.next = wanted.take();
    if (this.released) poolOf(buffer).give(buffer);
  }
}
