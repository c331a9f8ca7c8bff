import { describe, expect, it } from 'vitest';
import { FIRST_CURSOR, nextPage, previousPage } from './cursor.js';
import { readColumns } from './use-columns.js';
import { splitProblems } from './field-problems.js';
import { hrefTo, parseHash } from './route.js';
import { addressWith, filterOf } from './use-address-filter.js';

describe('addresses of pages', () => {
  it.each([
    ['', { page: '', query: {} }],
    ['#/', { page: '', query: {} }],
    ['#/nodes', { page: 'nodes', query: {} }],
    ['#/nodes/?search=a%20b&x=?', { page: 'nodes', query: { search: 'a b', x: '?' } }],
  ])('%j', (hash, expected) => {
    expect(parseHash(hash)).toEqual(expected);
  });

  it('read back as they were made', () => {
    expect(parseHash(hrefTo('traffic', { keyword: 'a&b #c', n: 3 }))).toEqual({
      page: 'traffic',
      query: { keyword: 'a&b #c', n: '3' },
    });
  });
});

describe('refused fields', () => {
  it('are shown at their fields, and the rest at the end of the form', () => {
    const { byField, rest } = splitProblems(
      [
        { field: 'name', message: 'name must be shorter' },
        { field: 'name', message: 'name must be something else' },
        { field: 'members[3]', message: 'is not known' },
        { field: 'filter.name', message: 'must be a pattern' },
        { field: 'health.url', message: 'must be an address' },
        { field: 'other', message: 'must not be there' },
      ],
      ['name', 'members', 'filter', 'health.url'],
    );
    expect(Object.fromEntries(byField)).toEqual({
      name: 'Must be shorter',
      members: 'Is not known',
      filter: 'Must be a pattern',
      'health.url': 'Must be an address',
    });
    expect(rest).toEqual(['other: must not be there']);
  });
});

describe('cursors', () => {
  it('lead back the way they came', () => {
    const second = nextPage(FIRST_CURSOR, 'b');
    const third = nextPage(second, 'c');
    expect(third.cursor).toBe('c');
    expect(previousPage(third)).toEqual(second);
    expect(previousPage(second)).toEqual(FIRST_CURSOR);
    expect(previousPage(FIRST_CURSOR)).toEqual(FIRST_CURSOR);
  });
});

describe('a filter in the address', () => {
  const defaults = { search: '', sort: '-start' };

  it('is what the address says, and the default for the rest', () => {
    expect(filterOf(defaults, { search: 'a', tab: 'closed' })).toEqual({ search: 'a', sort: '-start' });
  });

  it('names only what is not as by default, and keeps what is no part of it', () => {
    const route = { page: 'connections', query: { tab: 'closed', search: 'a' } };
    expect(addressWith(route, defaults, { sort: 'host' })).toBe('#/connections?tab=closed&search=a&sort=host');
    expect(addressWith(route, defaults, { search: '', sort: '-start' })).toBe('#/connections?tab=closed');
  });
});

describe('chosen columns', () => {
  const known = ['a', 'b', 'c'];

  it('are in the order of the table, without those that there are not', () => {
    expect(readColumns('["c","x","a"]', known, ['b'])).toEqual(['a', 'c']);
    expect(readColumns('[]', known, ['b'])).toEqual([]);
  });

  it.each([null, 'nonsense', '{}'])('are the default where %j is stored', (stored) => {
    expect(readColumns(stored, known, ['b'])).toEqual(['b']);
  });
});
