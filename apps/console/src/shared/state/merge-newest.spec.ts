import { describe, expect, it } from 'vitest';
import { mergeNewest, type LoadedRows } from './merge-newest.js';

const rows = (next: string | null, ...ids: number[]): LoadedRows<number> => ({ rows: ids, next });
const merge = (known: LoadedRows<number>, head: LoadedRows<number>) => mergeNewest(known, head, (id) => id);

describe('the head of a growing list', () => {
  it('comes before what is known, which goes on where it went on', () => {
    expect(merge(rows('old', 5, 4, 3, 2), rows('new', 7, 6, 5))).toEqual(rows('old', 7, 6, 5, 4, 3, 2));
  });

  it('brings rows that were written late to their place', () => {
    expect(merge(rows('old', 9, 7, 5, 3), rows('new', 9, 8, 7))).toEqual(rows('old', 9, 8, 7, 5, 3));
  });

  it('changes nothing where nothing is new', () => {
    const known = rows('old', 5, 4, 3);
    expect(merge(known, rows('new', 5, 4))).toBe(known);
  });

  it('does not hide a gap', () => {
    expect(merge(rows('old', 5, 4), rows('new', 9, 8))).toBeNull();
  });

  it('replaces everything where it is the whole list', () => {
    expect(merge(rows('old', 5, 4), rows(null, 9))).toEqual(rows(null, 9));
    expect(merge(rows(null), rows(null))).toEqual(rows(null));
  });
});
