import { describe, expect, it } from 'vitest';
import { draw, DRAWS, type CheckInMode } from './draw.js';

describe.each(['normal', 'gambler'] as const)('draws of mode %s', (mode: CheckInMode) => {
  const { from, to } = DRAWS[mode];
  const values = to - from + 1;
  const drawn = new Map<number, number>();
  const times = values * 1000;
  for (let time = 0; time < times; time++) {
    const value = draw(mode);
    drawn.set(value, (drawn.get(value) ?? 0) + 1);
  }

  it('are whole numbers in the range, including both ends', () => {
    const expected = Array.from({ length: values }, (_, index) => from + index);
    expect([...drawn.keys()].sort((a, b) => a - b)).toEqual(expected);
  });

  it('are equally likely', () => {
    // Chi-squared with n - 1 degrees of freedom: beyond seven standard deviations once in many billions of runs.
    const squared = [...drawn.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(squared).toBeLessThan(values - 1 + 7 * Math.sqrt(2 * (values - 1)) + 20);
  });
});

it('the draws have the published ranges', () => {
  expect(DRAWS).toEqual({ normal: { from: 4, to: 10 }, gambler: { from: -3, to: 30 } });
});
