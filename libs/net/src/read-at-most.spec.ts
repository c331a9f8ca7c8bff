import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readAtMost } from './read-at-most.js';

describe('readAtMost', () => {
  it.each([
    ['nothing', [], ''],
    ['several parts of just as many bytes', ['ab', 'cd', 'e'], 'abcde'],
    ['one byte more', ['ab', 'cd', 'ef'], null],
    ['one part that is too long', ['abcdef'], null],
  ])('%s', async (_, parts, expected) => {
    const source = Readable.from(parts.map((part) => Buffer.from(part)));
    expect((await readAtMost(source, 5))?.toString() ?? null).toBe(expected);
    expect(source.destroyed).toBe(true);
  });

  it('passes on the failure of the source', async () => {
    const source = new Readable({ read: () => undefined });
    source.push('ab');
    source.destroy(new Error('cut'));
    await expect(readAtMost(source, 5)).rejects.toThrow('cut');
  });
});
