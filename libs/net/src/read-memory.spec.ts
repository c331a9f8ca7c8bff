import { afterEach, describe, expect, it } from 'vitest';
import { ReadMemory, withRoomBefore } from './read-memory.js';

function chunkOf(text: string): Buffer {
  let chunk: Buffer = Buffer.alloc(0);
  const memory = new ReadMemory((part) => (chunk = part));
  memory.nextBuffer().write(text);
  memory.received(text.length);
  return chunk;
}

describe('the memory of a dialled socket', () => {
  it('is the same for each address until something is read', () => {
    const memory: ReadMemory = new ReadMemory(() => memory.release());
    const first = memory.nextBuffer();
    expect([memory.nextBuffer(), memory.nextBuffer()]).toEqual([first, first]);
    memory.received(1);
    expect(memory.nextBuffer()).toBeUndefined();
    memory.recycle();
  });
});

describe('space before what was read', () => {
  it('holds a header without a copy', () => {
    const chunk = chunkOf('hello');
    const whole = withRoomBefore(chunk, 3);
    whole?.write('abc');
    expect(String(whole)).toBe('abchello');
    chunk[0] = 0x6a;
    expect(String(whole)).toBe('abcjello');
  });

  it('is refused where other data may be', () => {
    const chunk = chunkOf('hello');
    expect(withRoomBefore(chunk.subarray(1), 3)).toBeNull();
    expect(withRoomBefore(chunk, 9)).toBeNull();
    expect(withRoomBefore(Buffer.from('hello'), 3)).toBeNull();
    expect(withRoomBefore(Buffer.alloc(100).subarray(8), 3)).toBeNull();
  });

  it('ends where the chunk ends', () => {
    const whole = withRoomBefore(chunkOf('hello').subarray(0, 2), 1);
    expect(whole?.subarray(1).toString()).toBe('he');
  });
});

describe('how much a socket reads at a time', () => {
  const KIB = 1024;
  const sockets: ReadMemory[] = [];
  let keeps = false;

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.recycle();
    keeps = false;
  });

  function newSocket(): { read: (bytes?: number) => number } {
    const memory: ReadMemory = new ReadMemory(() => void (keeps || memory.release()));
    sockets.push(memory);
    let current = memory.nextBuffer();
    // Node keeps its buffer if it gets none.
    const next = (): Buffer => {
      const given = memory.nextBuffer();
      return Buffer.isBuffer(given) ? given : current;
    };
    return {
      read: (bytes = current.length) => {
        memory.received(bytes);
        current = next();
        return current.length;
      },
    };
  }

  it('grows when reads fill the buffer, up to 256 KiB', () => {
    const socket = newSocket();
    expect([socket.read(), socket.read(), socket.read()]).toEqual([64 * KIB, 256 * KIB, 256 * KIB]);
  });

  it('stays while reads need it, and shrinks step by step', () => {
    const socket = newSocket();
    socket.read();
    socket.read();
    expect([socket.read(65 * KIB), socket.read(64 * KIB), socket.read(9 * KIB), socket.read(1)]).toEqual([
      256 * KIB,
      64 * KIB,
      64 * KIB,
      8 * KIB,
    ]);
  });

  it('does not grow, and gives up the largest size, while the chunks are not taken', () => {
    const socket = newSocket();
    keeps = true;
    expect([socket.read(), socket.read()]).toEqual([8 * KIB, 8 * KIB]);
    keeps = false;
    socket.read();
    socket.read();
    keeps = true;
    expect([socket.read(), socket.read()]).toEqual([64 * KIB, 64 * KIB]);
  });

  it('is the largest for 64 sockets at a time', () => {
    const busy = Array.from({ length: 65 }, newSocket);
    const sizes = busy.map((socket) => [socket.read(), socket.read()][1]);
    expect(sizes.filter((size) => size === 256 * KIB)).toHaveLength(64);
    expect(sizes.at(-1)).toBe(64 * KIB);
    busy[0]?.read(1);
    expect(busy[64]?.read()).toBe(256 * KIB);
  });

  it("gives a closed socket's place to another, also when it closed while it read", () => {
    for (let round = 0; round < 100; round += 1) {
      const socket = newSocket();
      expect([socket.read(), socket.read()]).toEqual([64 * KIB, 256 * KIB]);
      if (round % 2 === 0) sockets.at(-1)?.received(1);
      sockets.pop()?.recycle();
    }
  });

  it('never uses one buffer for two sockets', () => {
    let closing: ReadMemory | undefined;
    const memory: ReadMemory = new ReadMemory(() => closing?.recycle());
    memory.nextBuffer();
    closing = memory;
    memory.received(8 * KIB);
    const taken = Array.from({ length: 300 }, () => new ReadMemory(() => undefined));
    sockets.push(...taken);
    expect(new Set(taken.map((socket) => socket.nextBuffer().buffer)).size).toBe(300);
  });
});
