import { describe, expect, it } from 'vitest';
import { mergeRequests } from './merge-requests.js';

const list = (ids: string, isCut = false): { items: { id: string }[]; isCut: boolean } => ({
  items: ids.split('').map((id) => ({ id })),
  isCut,
});
const merged = (lists: ReturnType<typeof list>[], limit = 9): string => {
  const { items, isCut } = mergeRequests(lists, limit);
  return items.map(({ id }) => id).join('') + (isCut ? '…' : '');
};

describe('requests of several processes', () => {
  it('are in the order of time, up to a number', () => {
    expect(merged([list('971'), list('832')])).toBe('987321');
    expect(merged([list('971'), list('832')], 4)).toBe('9873');
    expect(merged([])).toBe('');
  });

  it('end where one of them left something out', () => {
    expect(merged([list('97', true), list('8321')])).toBe('987…');
    expect(merged([list('97', true), list('85', true)])).toBe('987…');
    expect(merged([list('97', true), list('8321')], 2)).toBe('98');
  });
});
