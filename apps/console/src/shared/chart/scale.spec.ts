import { describe, expect, it } from 'vitest';
import { areaPath, linePath, linePoints, nearestIndex, niceMaximum, ratesOf } from './scale.js';

const NOW = Date.parse('2026-05-01T12:00:00.000Z');
const at = (secondsAgo: number, down: number) => ({ t: new Date(NOW - secondsAgo * 1_000).toISOString(), up: 0, down });

describe('rates', () => {
  it('are bytes over the whole interval, and over the part that has passed of the one that runs', () => {
    expect(ratesOf([at(90, 600), at(30, 600)], 60, NOW).map(({ down }) => down)).toEqual([10, 20]);
  });

  it('leave out an interval that has only begun, and the running second', () => {
    expect(ratesOf([at(62, 60), at(2, 1_000)], 60, NOW)).toHaveLength(1);
    expect(ratesOf([at(1, 5), at(0.5, 0)], 1, NOW).map(({ down }) => down)).toEqual([5]);
  });
});

describe('the scale', () => {
  it.each([
    [0, 1024],
    [NaN, 1024],
    [3, 4],
    [1000, 1024],
    [1025, 2048],
    [700 * 1024, 800 * 1024],
    [900 * 1024, 1024 ** 2],
    [3.1 * 1024 ** 3, 4 * 1024 ** 3],
  ])('above %s ends at %s', (value, expected) => {
    expect(niceMaximum(value)).toBe(expected);
  });

  it('is never below what it shows', () => {
    for (let value = 1; value < 1024 ** 4; value *= 1.7) expect(niceMaximum(value)).toBeGreaterThanOrEqual(value);
  });
});

describe('lines', () => {
  const size = { width: 100, height: 50 };

  it('go from left to right, high values up', () => {
    expect(linePoints([0, 10, 5], 10, size)).toEqual([
      [0, 50],
      [50, 0],
      [100, 25],
    ]);
  });

  it('of one value are flat, of none are nothing', () => {
    expect(linePath(linePoints([5], 10, size))).toBe('M0 25L100 25');
    expect(areaPath(linePoints([], 10, size), 50)).toBe('');
    expect(areaPath(linePoints([5], 10, size), 50)).toBe('M0 25L100 25L100 50L0 50Z');
  });

  it('know the nearest point', () => {
    expect([
      nearestIndex(-5, 100, 11),
      nearestIndex(54, 100, 11),
      nearestIndex(999, 100, 11),
      nearestIndex(5, 0, 1),
    ]).toEqual([0, 5, 10, 0]);
  });
});
