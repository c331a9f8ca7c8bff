import { describe, expect, it } from 'vitest';
import { visibleRange } from './visible-range.js';

describe('visibleRange', () => {
  it.each([
    ['the top', { top: 0, height: 400 }, 10_000, { first: 0, last: 18 }],
    ['the middle', { top: 40_000, height: 400 }, 10_000, { first: 992, last: 1018 }],
    ['the end', { top: 399_600, height: 400 }, 10_000, { first: 9_982, last: 10_000 }],
    ['a list that became shorter', { top: 399_600, height: 400 }, 5, { first: 5, last: 5 }],
    ['a short list', { top: 0, height: 400 }, 3, { first: 0, last: 3 }],
    ['an empty list', { top: 0, height: 400 }, 0, { first: 0, last: 0 }],
  ])('draws few rows at %s', (_, view, count, range) => {
    expect(visibleRange(view, 40, count)).toEqual(range);
  });
});
