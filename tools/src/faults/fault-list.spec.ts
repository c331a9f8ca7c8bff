import { describe, expect, it } from 'vitest';
import { faults } from './fault-list.js';

describe('the list of faults', () => {
  it('names each once, and leaves none out without a reason', () => {
    const leftOut = ([hasRedis, hasOwnDisk]: [boolean, boolean]): string[] => {
      const all = faults({ hasRedis, hasOwnDisk });
      expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
      return all.flatMap((fault) => fault.leftOut ?? []);
    };
    const [everything, nothing] = [leftOut([true, true]), leftOut([false, false])];
    expect(nothing.length - everything.length).toBe(4);
    expect(nothing.every((reason) => reason.length > 10)).toBe(true);
  });
});
