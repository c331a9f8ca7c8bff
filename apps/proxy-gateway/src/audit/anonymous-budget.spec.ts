import { expect, it } from 'vitest';
import { AnonymousBudget } from './anonymous-budget.js';

it('allows so many a minute and tells later how many it did not', () => {
  const budget = new AnonymousBudget(2);
  const allowed = [1_000_000, 1_000_001, 1_000_002, 1_000_003].map((now) => budget.take(now).allowed);
  expect(allowed).toEqual([true, true, false, false]);
  expect(budget.take(1_060_000)).toEqual({ allowed: true, suppressed: 2 });
  expect(budget.take(1_060_001)).toEqual({ allowed: true, suppressed: 0 });
});
