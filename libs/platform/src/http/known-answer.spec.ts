import type { Response } from 'express';
import { describe, expect, it } from 'vitest';
import { isKnownAnswer } from './known-answer.js';

function known(method: string, ifNoneMatch: string | undefined, tag: string | undefined): boolean {
  const headers = { 'if-none-match': ifNoneMatch, 'cache-control': 'no-cache' };
  return isKnownAnswer({ req: { method, headers }, getHeader: () => tag } as unknown as Response);
}

describe('the ETag check', () => {
  it.each([
    ['"a"', '"a"'],
    ['"b", "a"', '"a"'],
    ['W/"a"', '"a"'],
    ['"a"', 'W/"a"'],
    ['*', '"a"'],
  ])('finds that %s matches %s', (ifNoneMatch, tag) => {
    expect(known('GET', ifNoneMatch, tag)).toBe(true);
    expect(known('HEAD', ifNoneMatch, tag)).toBe(true);
    expect(known('POST', ifNoneMatch, tag)).toBe(false);
  });

  it.each([
    [undefined, '"a"'],
    ['"b"', '"a"'],
    ['a', '"a"'],
    ['*', undefined],
    ['"a"', undefined],
  ])('finds that %s does not match %s', (ifNoneMatch, tag) => {
    expect(known('GET', ifNoneMatch, tag)).toBe(false);
  });
});
