import { describe, expect, it } from 'vitest';
import { readHeaderLine } from './index.js';

describe('readHeaderLine', () => {
  it.each([
    ['Host: a.example', 'host', 'a.example'],
    ["x!#$%&'*+-.^_`|~9:b", "x!#$%&'*+-.^_`|~9", 'b'],
    ['a: \t b \t c\u00a0 \t ', 'a', 'b \t c\u00a0'],
    ['a:', 'a', ''],
    ['a: \t ', 'a', ''],
    ['a:b:c', 'a', 'b:c'],
  ])('%j', (line, name, value) => {
    expect(readHeaderLine(line)).toEqual({ name, value });
  });

  it.each(['', 'a', ':b', ' a: b', 'a : b', 'ä: b', 'a: b\rc', 'a: b\nc', 'a: b\u0000'])(
    '%j is not a header field',
    (line) => {
      expect(readHeaderLine(line)).toBeNull();
    },
  );

  it.each(['\rx', 'x', ''])('takes no longer for many spaces before %j', (end) => {
    const began = performance.now();
    readHeaderLine(`a: b${' '.repeat(4000)}${end}`);
    readHeaderLine(`a:${' '.repeat(4000)}${end}`);
    expect(performance.now() - began).toBeLessThan(50);
  });
});
