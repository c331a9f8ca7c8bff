import { describe, expect, it } from 'vitest';
import { planSections, SECTION_ROWS } from './log-sections.js';

const NOON = Date.UTC(2026, 4, 17, 12);
const DAY = 86_400_000;
const rows = (count: number, startAt = NOON, text = 'example.com\n192.0.2.1') =>
  Array.from({ length: count }, (_, index) => ({ endedAt: startAt + index, searchText: text }));

describe('sections of the log', () => {
  it('grow over batches until they are full', () => {
    const first = planSections(null, rows(SECTION_ROWS - 10));
    expect(first.full).toEqual([]);
    expect(first.open).toMatchObject({ rows: SECTION_ROWS - 10, firstAt: NOON, lastAt: NOON + SECTION_ROWS - 11 });
    const second = planSections(first.open, rows(15, NOON + 5_000));
    expect(second.full).toHaveLength(1);
    expect(second.full[0]).toMatchObject({ id: first.open?.id, rows: SECTION_ROWS, lastAt: NOON + 5_009 });
    expect(second.open).toMatchObject({ rows: 5, firstAt: NOON + 5_010 });
  });

  it('are the same when a batch is planned again', () => {
    const { open } = planSections(null, rows(10));
    const before = { ...open };
    const once = planSections(open, rows(10, NOON + 100, 'other.example'));
    expect(open).toEqual(before);
    expect(planSections(open, rows(10, NOON + 100, 'other.example'))).toEqual(once);
  });

  it('end with their day, in any order of rows', () => {
    const { full, open } = planSections(null, [...rows(3, NOON + DAY), ...rows(2)]);
    expect(full).toMatchObject([{ rows: 2, firstAt: NOON, lastAt: NOON + 1 }]);
    expect(open).toMatchObject({ rows: 3, firstAt: NOON + DAY });
  });

  it('end early when their rows have little in common', () => {
    const different = rows(SECTION_ROWS - 1).map((row, index) => ({
      ...row,
      searchText: Array.from({ length: 200 }, (_, at) =>
        String.fromCodePoint(0x4e00 + ((index * 31 + at * at * at) % 19_999)),
      ).join(''),
    }));
    expect(planSections(null, different).full.length).toBeGreaterThan(0);
  });
});
