import { expect, it } from 'vitest';
import { AnonymousBudget } from './anonymous-budget.js';

it('allows a fixed number a minute and reports later how many it suppressed', () => {
  const budget = new AnonymousBudget(2);
  const allowed = [1_000_000, 1_000_001, 1_000_002, 1_000_003].map((now) => budget.take(now).allowed);
  expect(allowed).toEqual([true, true, false, false]);
  expect(budget.take(1_060_000)).toEqual({ allowed: true, suppressed: 2 });
  expect(budget.take(1_060_001)).toEqual({ allowed: true, suppressed: 0 });
});

it('a flood of a whole day creates fewer than a hundred thousand rows', () => {
  const budget = new AnonymousBudget();
  let rows = 0;
  for (let now = 86_400_000; now < 2 * 86_400_000; now += 50) {
    const { allowed, suppressed } = budget.take(now);
    rows += Number(allowed) + Number(suppressed > 0);
  }
  expect(rows).toBeLessThan(100_000);
  expect(rows).toBeGreaterThan(80_000);
});
