import { expect, it } from 'vitest';
import { processLoad } from './process-load.js';

it('says how much memory this process has, how busy it is and how late its timers are', () => {
  processLoad();
  const until = performance.now() + 20;
  while (performance.now() < until);
  const { residentBytes, busy, delayP99, delayMost } = processLoad();
  expect(residentBytes).toBeGreaterThan(1e6);
  expect(busy).toBeGreaterThan(0);
  expect(busy).toBeLessThanOrEqual(1);
  expect(delayP99).toBeGreaterThanOrEqual(0);
  // An empty histogram has a lowest possible value of all bits.
  expect(delayMost).toBeLessThan(60);
});
