import { describe, expect, it } from 'vitest';
import { ReadMemory, withRoomBefore } from './read-memory.js';

function chunkOf(text: string): Buffer {
  let chunk: Buffer = Buffer.alloc(0);
  const memory = new ReadMemory((part) => (chunk = part));
  memory.takeNext().write(text);
  memory.received(text.length);
  return chunk;
}

describe('room before what was read', () => {
  it('is there for a header, without a copy', () => {
    const chunk = chunkOf('hello');
    const whole = withRoomBefore(chunk, 3);
    whole?.write('abc');
    expect(String(whole)).toBe('abchello');
    chunk[0] = 0x6a;
    expect(String(whole)).toBe('abcjello');
  });

  it('is not there where something else may be', () => {
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
