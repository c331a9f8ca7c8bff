import type { PublicationStep } from '@gatehouse/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectNodes, type SelectableNode } from './selection.js';

const make = (id: number, name: string, more: Partial<SelectableNode> = {}): SelectableNode => ({
  id,
  name,
  type: 'ss',
  server: `${id}.example`,
  port: 443,
  country: null,
  tags: [],
  subscriptionIds: [],
  manual: false,
  alive: null,
  delayMs: null,
  ...more,
});
const NODES = [
  make(1, 'Tokyo 10 | IPLC', { country: 'JP', subscriptionIds: [7], alive: true, delayMs: 80 }),
  make(2, 'Tokyo 2', { country: 'JP', subscriptionIds: [7, 8], alive: false, delayMs: 10 }),
  make(3, 'Seoul', { country: 'KR', subscriptionIds: [8], type: 'vless', alive: true, delayMs: 40 }),
  make(4, 'Mine', { manual: true, tags: ['home'] }),
  make(5, 'Traffic left: 5 GB', { subscriptionIds: [7], server: '1.example' }),
];
const names = (steps: PublicationStep[], sources = {}): string[] =>
  selectNodes(NODES, { sources, steps }).nodes.map(({ name }) => name);

describe('the sources of a publication', () => {
  it.each([
    [{}, [1, 2, 3, 4, 5]],
    [{ subscription_ids: [8] }, [2, 3]],
    [{ tags: ['home'] }, [4]],
    [{ manual: true, subscription_ids: [8] }, [2, 3, 4]],
    [{ subscription_ids: [] }, []],
    [{ manual: false }, [1, 2, 3, 4, 5]],
  ])('%j name nodes %j', (sources, ids) => {
    const { nodes, sourcesTotal } = selectNodes(NODES, { sources });
    expect(nodes.map(({ id }) => id)).toEqual(ids);
    expect(sourcesTotal).toBe(ids.length);
  });
});

describe('the steps of a publication', () => {
  it.each<[string, PublicationStep[], string[]]>([
    ['keep by name and country', [{ do: 'keep', name: 'tokyo', countries: ['JP'] }], ['Tokyo 10 | IPLC', 'Tokyo 2']],
    ['drop by pattern', [{ do: 'drop', name: 'traffic left|mine' }], ['Tokyo 10 | IPLC', 'Tokyo 2', 'Seoul']],
    ['keep by type', [{ do: 'keep', types: ['vless'] }], ['Seoul']],
    ['keep unknown countries', [{ do: 'keep', countries: ['ZZ'] }], ['Mine', 'Traffic left: 5 GB']],
    ['keep what is alive', [{ do: 'keep', health: 'alive' }], ['Tokyo 10 | IPLC', 'Seoul']],
    ['drop what is dead', [{ do: 'keep', health: 'not_dead', tags: ['home'] }], ['Mine']],
    ['limit', [{ do: 'limit', count: 1 }], ['Tokyo 10 | IPLC']],
    [
      'rename, then sort by number, then dedupe',
      [
        { do: 'keep', countries: ['JP'] },
        { do: 'rename', pattern: String.raw`\s*\|.*`, replacement: '' },
        { do: 'sort', by: 'name' },
      ],
      ['Tokyo 2', 'Tokyo 10'],
    ],
    [
      'sort by delay: what does not answer comes last, whichever way',
      [
        { do: 'sort', by: 'delay', descending: true },
        { do: 'limit', count: 3 },
      ],
      ['Tokyo 10 | IPLC', 'Seoul', 'Tokyo 2'],
    ],
    ['dedupe by server', [{ do: 'dedupe', same: 'server' }], ['Tokyo 10 | IPLC', 'Tokyo 2', 'Seoul', 'Mine']],
    [
      'dedupe by the names that earlier steps gave',
      [
        { do: 'rename', pattern: '.*', replacement: 'one' },
        { do: 'dedupe', same: 'name' },
      ],
      ['one'],
    ],
    [
      'a name that would be empty stays',
      [
        { do: 'rename', pattern: '.*' },
        { do: 'limit', count: 1 },
      ],
      ['Tokyo 10 | IPLC'],
    ],
  ])('%s', (_what, steps, expected) => {
    expect(names(steps)).toEqual(expected);
  });

  it('refuse patterns that need backtracking', () => {
    expect(() => names([{ do: 'rename', pattern: '(?<=a)b' }])).toThrow(/look-around/);
  });

  it('only ever choose, rename and order: no node is added, none twice', () => {
    const step = fc.oneof(
      fc.constantFrom<PublicationStep>(
        { do: 'keep', name: 'o' },
        { do: 'drop', countries: ['JP'] },
        { do: 'sort', by: 'country' },
        { do: 'dedupe' },
        { do: 'rename', pattern: 'o', replacement: '0' },
      ),
      fc.record({ do: fc.constant('limit' as const), count: fc.nat(4) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        const ids = selectNodes(NODES, { steps }).nodes.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(NODES.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      }),
    );
  });
});
