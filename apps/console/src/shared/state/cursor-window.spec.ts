import { describe, expect, it } from 'vitest';
import { pagesBetween, rowsOf, withPage, type WindowPage } from './cursor-window.js';

const page = (cursor: string | null, rows: number[], next: string | null): WindowPage<number> => ({
  cursor,
  rows,
  next,
});
const PAGES = [page(null, [1, 2, 3], 'a'), page('a', [4, 5, 6], 'b'), page('b', [7], null)];

describe('a list of which pages are loaded', () => {
  it.each([
    [0, 2, { from: 0, to: 0 }],
    [2, 4, { from: 0, to: 1 }],
    [3, 6, { from: 1, to: 1 }],
    [5, 7, { from: 1, to: 2 }],
    [5, 900, { from: 1, to: 2 }],
    [0, 0, { from: 0, to: 0 }],
  ])('knows the pages of the rows from %i to %i', (first, last, pages) => {
    expect(pagesBetween(PAGES, first, last)).toEqual(pages);
  });

  it('has a page at 0 before anything is loaded', () => {
    expect(pagesBetween([], 0, 10)).toEqual({ from: 0, to: 0 });
    expect(withPage([], 0, page(null, [1], null))).toEqual([page(null, [1], null)]);
  });

  it('keeps what follows a page that ends where it ended', () => {
    expect(withPage(PAGES, 1, page('a', [4, 50, 6], 'b'))).toEqual([PAGES[0], page('a', [4, 50, 6], 'b'), PAGES[2]]);
  });

  it('drops what follows a page that ends elsewhere, for rows would be missing between them', () => {
    expect(withPage(PAGES, 0, page(null, [0, 1, 2], 'z'))).toEqual([page(null, [0, 1, 2], 'z')]);
    expect(withPage(PAGES, 1, page('a', [4], null))).toEqual([PAGES[0], page('a', [4], null)]);
  });

  it('shows a row once that moved from one page to another between two readings', () => {
    expect(rowsOf([page(null, [1, 2, 3], 'a'), page('a', [3, 4], null)], (row) => row)).toEqual([1, 2, 3, 4]);
    expect(rowsOf(PAGES, (row) => row)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});
