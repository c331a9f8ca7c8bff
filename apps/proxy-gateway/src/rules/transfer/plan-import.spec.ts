import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planImport } from './plan-import.js';
import type { ExistingRule, ImportPlan, WantedRule } from './plan-import.js';

const definition = (name: string) =>
  name.startsWith('M')
    ? { type: 'MATCH', payload: '', target: name, noResolve: false, src: false }
    : { type: 'DOMAIN', payload: name, target: 'DIRECT', noResolve: false, src: false };
const existing = (id: number, name: string, priority: number): ExistingRule => ({
  id,
  ...definition(name),
  enabled: true,
  note: null,
  priority,
});
const wanted = (name: string, more: Partial<WantedRule> = {}): WantedRule => ({
  ...definition(name),
  enabled: undefined,
  note: undefined,
  priority: undefined,
  ...more,
});

/** The names in the order of evaluation after the import; new ids are higher than all others. */
function orderAfter(before: readonly ExistingRule[], plan: ImportPlan): string[] {
  const rows = new Map(before.filter(({ id }) => !plan.remove.includes(id)).map((rule) => [rule.id, { ...rule }]));
  for (const rule of plan.update) rows.set(rule.id, rule);
  plan.create.forEach((rule, index) => rows.set(1_000 + index, { id: 1_000 + index, ...rule }));
  const sorted = [...rows.values()].sort((a, b) => a.priority - b.priority || a.id - b.id);
  return sorted.map(({ type, payload, target }) => (type === 'MATCH' ? target : payload));
}

const names = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { maxLength: 8 });
const priorities = fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 9, maxLength: 9 });
const before = (list: readonly string[], at: readonly number[], match: boolean): ExistingRule[] => {
  const all = match ? [...list, 'M1'] : list;
  const sorted = [...at].sort((a, b) => a - b);
  return all.map((name, index) => existing(index + 1, name, sorted[index] ?? 0));
};

describe('planImport', () => {
  it('replaces all rules by those of the import, keeping the rows of equal ones', () => {
    fc.assert(
      fc.property(names, priorities, fc.boolean(), names, (old, at, match, fresh) => {
        const rules = before(old, at, match);
        const plan = planImport(
          'replace',
          rules,
          fresh.map((name) => wanted(name)),
        );
        expect(orderAfter(rules, plan)).toEqual(fresh);
        for (const rule of rules) expect(plan.remove.includes(rule.id)).toBe(!fresh.includes(rule.payload));
        expect(plan.create.map(({ payload }) => payload)).toEqual(fresh.filter((name) => !old.includes(name)));
      }),
    );
  });

  it('appends new rules behind the present ones and before a closing MATCH', () => {
    fc.assert(
      fc.property(names, priorities, fc.boolean(), names, (old, at, match, fresh) => {
        const rules = before(old, at, match);
        const plan = planImport(
          'append',
          rules,
          [...fresh, 'M2'].map((name) => wanted(name)),
        );
        const added = fresh.filter((name) => !old.includes(name));
        expect(orderAfter(rules, plan)).toEqual([...old, ...added, ...(match ? ['M1'] : []), 'M2']);
        expect(plan.remove).toEqual([]);
        expect(new Set(plan.update.map(({ id }) => id)).size).toBe(plan.update.length);
      }),
    );
  });

  it('counts each wanted rule once', () => {
    const rules = [existing(1, 'a', 5), existing(2, 'b', 6), existing(3, 'c', 7)];
    const plan = planImport('replace', rules, [
      wanted('a'),
      wanted('a'),
      wanted('b', { note: 'new' }),
      wanted('x'),
      wanted('x'),
    ]);
    expect(plan.counts).toEqual({ created: 1, updated: 1, unchanged: 1, duplicate: 2, removed: 1 });
    expect(plan.items.map(({ id, action }) => [id, action])).toEqual([
      [1, 'unchanged'],
      [1, 'duplicate'],
      [2, 'updated'],
      [null, 'created'],
      [null, 'duplicate'],
      [3, 'removed'],
    ]);
  });

  it('keeps given priorities', () => {
    const plan = planImport('replace', [], [wanted('a', { priority: 50 }), wanted('b', { priority: -3 })]);
    expect(plan.create.map(({ payload, priority }) => [payload, priority])).toEqual([
      ['a', 50],
      ['b', -3],
    ]);
  });

  it('moves only the closing MATCH if there is no room before it', () => {
    const rules = [existing(1, 'a', 5), existing(2, 'b', 6), existing(3, 'M1', 7)];
    const plan = planImport('append', rules, [wanted('x'), wanted('y')]);
    expect(plan.update.map(({ id }) => id)).toEqual([3]);
    expect(plan.counts).toMatchObject({ created: 2, updated: 0 });
  });

  it('moves all rules if there is no room at the end of all priorities', () => {
    const rules = [existing(1, 'a', 0), existing(2, 'b', 1_000_000_000_000)];
    expect(orderAfter(rules, planImport('append', rules, [wanted('x')]))).toEqual(['a', 'b', 'x']);
  });
});
