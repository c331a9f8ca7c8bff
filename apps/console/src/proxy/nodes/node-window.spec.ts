import type { NodeView } from '@gatehouse/contracts';
import { expect, it } from 'vitest';
import { chunksOf, keepNodes } from './node-window.js';

it('rows that can be seen are read in chunks that do not move with each row', () => {
  expect(chunksOf(0, 0)).toEqual([{ limit: 100, offset: 0 }]);
  expect(chunksOf(40, 70)).toEqual([{ limit: 100, offset: 0 }]);
  expect(chunksOf(90, 130)).toEqual([
    { limit: 100, offset: 0 },
    { limit: 100, offset: 100 },
  ]);
  expect(chunksOf(9_950, 10_000)).toEqual([{ limit: 100, offset: 9_900 }]);
});

it('nodes are kept while they are few', () => {
  const node = (id: number) => ({ id }) as NodeView;
  let known = keepNodes(new Map(), [node(1)]);
  known = keepNodes(known, [node(2)]);
  expect([...known.keys()]).toEqual([1, 2]);
  known = keepNodes(
    known,
    Array.from({ length: 3_000 }, (_, id) => node(id)),
  );
  expect([...keepNodes(known, [node(9_999)]).keys()]).toEqual([9_999]);
});
