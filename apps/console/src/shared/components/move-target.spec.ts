import { expect, it } from 'vitest';
import { moveTarget, withMoved } from './move-target.js';

it.each([
  [0, 0, 'abcd'],
  [0, 1, 'abcd'],
  [0, 2, 'bacd'],
  [0, 4, 'bcda'],
  [3, 0, 'dabc'],
  [2, 1, 'acbd'],
])('a row dragged from %i into gap %i makes %s', (from, gap, expected) => {
  expect(withMoved(['a', 'b', 'c', 'd'], from, moveTarget(from, gap)).join('')).toBe(expected);
});
