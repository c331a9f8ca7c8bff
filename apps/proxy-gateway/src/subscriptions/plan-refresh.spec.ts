import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planRefresh } from './plan-refresh.js';
import type { CurrentNode, ParsedEntry, ParsedReply, RefreshPlan } from './plan-refresh.js';

const entry = (fingerprint: string, name = fingerprint): ParsedEntry => ({
  fingerprint,
  node: { type: 'ss', name, server: '192.0.2.1', port: 1, cipher: 'aes-128-gcm', password: fingerprint },
});
const has = (id: number, fingerprint: string, name = fingerprint, shared = false): CurrentNode => ({
  id,
  fingerprint,
  name,
  type: 'ss',
  shared,
});
const ascending = (a: number, b: number): number => a - b;
const nodes = (...entries: ParsedEntry[]): ParsedReply => ({ kind: 'nodes', entries });
const none = new Set<string>();
const LETTERS = Array.from('abcdefghij');

function replaced(plan: RefreshPlan) {
  if (plan.kind !== 'replace') throw new Error(`kept: ${plan.reason}`);
  return {
    add: plan.add.map(({ fingerprint }) => fingerprint),
    update: plan.update.map(({ id, fingerprint }) => [id, fingerprint]),
    retain: plan.retain.map(({ id }) => id),
    remove: plan.remove,
    duplicates: plan.duplicates,
  };
}

describe('planRefresh', () => {
  it('tells added, kept and removed nodes apart', () => {
    const plan = planRefresh({ nodes: [has(1, 'a'), has(2, 'b')], known: none }, nodes(entry('b'), entry('c')), {
      keepRatio: 0,
    });
    expect(replaced(plan)).toEqual({ add: ['c'], update: [], retain: [2], remove: [1], duplicates: 0 });
  });

  it('counts a node named twice once, under its first name', () => {
    const plan = planRefresh({ nodes: [], known: none }, nodes(entry('a', 'one'), entry('a', 'two')), { keepRatio: 0 });
    expect(replaced(plan)).toMatchObject({ add: ['a'], duplicates: 1 });
    expect(plan.kind === 'replace' && plan.add[0]!.node.name).toBe('one');
  });

  it('keeps the id through a rename, and through a changed configuration under the same name', () => {
    const current = { nodes: [has(1, 'a', 'Tokyo'), has(2, 'b', 'Paris')], known: none };
    const plan = planRefresh(current, nodes(entry('a', 'Tokyo 2'), entry('b2', 'Paris')), { keepRatio: 0 });
    expect(replaced(plan)).toMatchObject({ retain: [1], update: [[2, 'b2']], add: [], remove: [] });
  });

  it('does not match by name if a name is shared on either side', () => {
    const two = { nodes: [has(1, 'a', 'X'), has(2, 'b', 'X')], known: none };
    expect(replaced(planRefresh(two, nodes(entry('c', 'X')), { keepRatio: 0 }))).toMatchObject({
      update: [],
      add: ['c'],
      remove: [1, 2],
    });
    const one = { nodes: [has(1, 'a', 'X')], known: none };
    expect(replaced(planRefresh(one, nodes(entry('c', 'X'), entry('d', 'X')), { keepRatio: 0 }))).toMatchObject({
      update: [],
      remove: [1],
    });
  });

  it('never rewrites a shared row, and never gives a row a fingerprint that another has', () => {
    const shared = { nodes: [has(1, 'a', 'X', true)], known: none };
    expect(replaced(planRefresh(shared, nodes(entry('c', 'X')), { keepRatio: 0 }))).toMatchObject({
      update: [],
      add: ['c'],
      remove: [1],
    });
    const taken = { nodes: [has(1, 'a', 'X')], known: new Set(['c']) };
    expect(replaced(planRefresh(taken, nodes(entry('c', 'X')), { keepRatio: 0 }))).toMatchObject({
      update: [],
      add: ['c'],
      remove: [1],
    });
  });

  it('rejects a reply that lost too many nodes, with the reason', () => {
    const current = { nodes: [1, 2, 3, 4, 5].map((id) => has(id, `n${id}`)), known: none };
    expect(planRefresh(current, nodes(entry('n1')), { keepRatio: 0.5 })).toMatchObject({
      kind: 'keep',
      reason: 'shrunk_below_threshold',
    });
    expect(planRefresh(current, nodes(entry('n1'), entry('n2'), entry('n3')), { keepRatio: 0.5 }).kind).toBe('replace');
    expect(planRefresh(current, nodes(entry('n1')), { keepRatio: 0 }).kind).toBe('replace');
  });

  it('never loses nodes, whatever the replies', () => {
    const reply: fc.Arbitrary<ParsedReply> = fc.oneof(
      fc
        .array(fc.record({ fingerprint: fc.constantFrom(...LETTERS), name: fc.constantFrom('X', 'Y', 'Z', 'W') }), {
          maxLength: 12,
        })
        .map((entries) => nodes(...entries.map(({ fingerprint, name }) => entry(fingerprint, name)))),
      fc.constantFrom<ParsedReply>(
        { kind: 'unusable', reason: 'html_response', message: '' },
        { kind: 'unusable', reason: 'parse_error', message: '' },
      ),
    );
    const policy = fc.double({ min: 0, max: 1, noNaN: true });
    // Rows that exist outside this subscription, and which of its own rows are shared.
    const elsewhere = fc.uniqueArray(fc.constantFrom(...LETTERS), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 20 }), policy, elsewhere, (replies, keepRatio, foreign) => {
        let current: CurrentNode[] = [];
        let nextId = 1;
        for (const next of replies) {
          const known = new Set([...current.map(({ fingerprint }) => fingerprint), ...foreign]);
          const plan = planRefresh({ nodes: current, known }, next, { keepRatio });
          if (plan.kind === 'keep') continue;
          const wanted =
            next.kind === 'nodes' ? new Set(next.entries.map(({ fingerprint }) => fingerprint)) : new Set();
          const ids = new Map(current.map((node) => [node.fingerprint, node.id]));
          const after = [
            ...plan.retain,
            ...plan.update,
            ...plan.add.map((planned) => ({ ...planned, id: nextId++ })),
          ].map(({ id, fingerprint, node }) => ({
            ...has(id, fingerprint, node.name),
            shared: foreign.includes(fingerprint),
          }));

          // The whole new set, with each row once.
          expect(new Set(after.map(({ fingerprint }) => fingerprint))).toEqual(wanted);
          expect(after.length).toBe(wanted.size);
          expect(after.length).toBeGreaterThan(0);
          expect(after.length).toBeGreaterThanOrEqual(current.length * keepRatio);
          expect(new Set(after.map(({ id }) => id)).size).toBe(after.length);
          // Nodes that stay keep their ids, and every previous node is accounted for exactly once.
          for (const node of after) if (ids.has(node.fingerprint)) expect(node.id).toBe(ids.get(node.fingerprint));
          const accounted = [...plan.retain, ...plan.update].map(({ id }) => id).concat(plan.remove);
          expect(accounted.sort(ascending)).toEqual(current.map(({ id }) => id).sort(ascending));
          current = after;
        }
      }),
      { numRuns: 500 },
    );
  });
});
