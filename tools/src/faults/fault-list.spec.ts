import { describe, expect, it } from 'vitest';
import { faults } from './fault-list.js';

describe('the list of faults', () => {
  it('names each once, and leaves none out without a reason', () => {
    for (const [hasRedis, hasOwnDisk] of [
      [true, true],
      [false, false],
    ] as const) {
      const all = faults({ hasRedis, hasOwnDisk });
      expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
      const leftOut = all.filter((fault) => fault.leftOut !== undefined).map(({ leftOut }) => leftOut);
      expect(leftOut).toHaveLength(hasRedis ? 2 : 5);
      expect(leftOut.every((reason) => (reason ?? '').length > 10)).toBe(true);
    }
  });
});
