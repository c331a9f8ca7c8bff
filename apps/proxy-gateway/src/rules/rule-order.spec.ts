import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_PRIORITY, placeBeside, placeLast, PRIORITY_STEP, spread } from './rule-order.js';
import type { OrderedRule, Placement } from './rule-order.js';

const NEW_ID = 0;
const rule = (id: number, priority: number, type = 'DOMAIN'): OrderedRule => ({ id, priority, type });

/** The ids in the order of evaluation, including the new rule. */
function orderAfter(rules: readonly OrderedRule[], { priority, moved }: Placement): number[] {
  const places = new Map(rules.map((each) => [each.id, each.priority]));
  for (const move of moved) places.set(move.id, move.priority);
  places.set(NEW_ID, priority);
  // Ties go to the lower id, and the new rule will have the highest.
  const age = (id: number): number => (id === NEW_ID ? Infinity : id);
  return [...places].sort(([a, x], [b, y]) => x - y || age(a) - age(b)).map(([id]) => id);
}

describe('rule order', () => {
  it('places the first rule anywhere and the next one behind it', () => {
    expect(placeLast([])).toEqual({ priority: PRIORITY_STEP, moved: [] });
    expect(placeLast([rule(1, 1_024)])).toEqual({ priority: 2_048, moved: [] });
  });

  it('keeps a closing MATCH last', () => {
    const rules = [rule(1, 1_024), rule(2, 2_048, 'MATCH')];
    expect(orderAfter(rules, placeLast(rules))).toEqual([1, NEW_ID, 2]);
  });

  it('moves others only when there is no room', () => {
    const rules = [rule(1, 5), rule(2, 6), rule(3, 6)];
    const placed = placeBeside(rules, { before: 3 });
    expect(placed?.moved.length).toBeGreaterThan(0);
    expect(orderAfter(rules, placed!)).toEqual([1, 2, NEW_ID, 3]);
  });

  it('reports an anchor that does not exist', () => {
    expect(placeBeside([rule(1, 5)], { after: 9 })).toBeNull();
  });

  it('always lands next to the anchor and keeps the order of the others', () => {
    const anyRules = fc
      .uniqueArray(
        fc.tuple(
          fc.integer({ min: 1, max: 60 }),
          fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-MAX_PRIORITY, MAX_PRIORITY)),
        ),
        {
          minLength: 1,
          maxLength: 12,
          selector: ([id]) => id,
        },
      )
      .map((pairs) =>
        pairs.map(([id, priority]) => rule(id, priority)).sort((a, b) => a.priority - b.priority || a.id - b.id),
      );
    fc.assert(
      fc.property(anyRules, fc.nat(), fc.boolean(), (rules, pick, before) => {
        const anchor = rules[pick % rules.length]!;
        const expected = rules.map((each) => each.id);
        expected.splice(expected.indexOf(anchor.id) + (before ? 0 : 1), 0, NEW_ID);
        const placed = placeBeside(rules, before ? { before: anchor.id } : { after: anchor.id });
        expect(orderAfter(rules, placed!)).toEqual(expected);
        expect(Math.abs(placed!.priority)).toBeLessThanOrEqual(MAX_PRIORITY);
      }),
    );
  });

  it('places a new rule before a closing MATCH even without free priorities', () => {
    const crowded = fc.tuple(
      fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 6 }),
      fc.integer({ min: 3, max: 5 }),
    );
    fc.assert(
      fc.property(crowded, ([priorities, match]) => {
        const rules = [
          ...priorities.sort((a, b) => a - b).map((at, index) => rule(index + 1, at)),
          rule(99, match, 'MATCH'),
        ];
        expect(orderAfter(rules, placeLast(rules))).toEqual([...rules.slice(0, -1).map(({ id }) => id), NEW_ID, 99]);
      }),
    );
  });

  it('spreads a list so that it rises, and keeps values that already rise', () => {
    const anyPlace = fc.option(
      fc.oneof(fc.integer({ min: -50, max: 50 }), fc.constantFrom(-MAX_PRIORITY, MAX_PRIORITY)),
    );
    fc.assert(
      fc.property(fc.array(anyPlace, { maxLength: 30 }), (wanted) => {
        const places = spread(wanted);
        expect(places).toHaveLength(wanted.length);
        for (const [index, place] of places.entries()) {
          expect(Number.isInteger(place) && Math.abs(place) <= MAX_PRIORITY).toBe(true);
          if (index > 0) expect(place).toBeGreaterThan(places[index - 1]!);
        }
      }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: -50, max: 50 })), (priorities) => {
        const rising = priorities.sort((a, b) => a - b);
        expect(spread(rising)).toEqual(rising);
        expect(spread([null, ...rising.map((each) => each * 10), null]).slice(1, -1)).toEqual(
          rising.map((each) => each * 10),
        );
      }),
    );
  });
});
