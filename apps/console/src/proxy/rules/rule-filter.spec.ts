import type { RuleView } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { isFiltered, NO_RULE_FILTER, placeAmong, targetChoices } from './rule-filter.js';

describe('the place of a rule that moves', () => {
  const others = [{ id: 4 }, { id: 7 }];

  it.each([
    [0, { before_id: 4 }],
    [1, { after_id: 4 }],
    [2, { after_id: 7 }],
  ])('%i', (to, expected) => {
    expect(placeAmong(others, to)).toEqual(expected);
  });

  it('needs another rule', () => {
    expect(placeAmong([], 0)).toBeNull();
  });
});

describe('the filter of rules', () => {
  it('offers the targets that there are and those in view by their names', () => {
    const rows = [{ target: 'n7', target_name: 'Tokyo' } as RuleView, { target: 'PROXY' } as RuleView];
    expect(targetChoices(['PROXY', 'DIRECT'], rows, 'Gone')).toEqual([
      { value: 'PROXY', label: 'PROXY' },
      { value: 'DIRECT', label: 'DIRECT' },
      { value: 'n7', label: 'Tokyo' },
      { value: 'Gone', label: 'Gone' },
    ]);
  });

  it('is none without words', () => {
    expect(isFiltered({ ...NO_RULE_FILTER, search: '  ' })).toBe(false);
    expect(isFiltered({ ...NO_RULE_FILTER, type: 'GEOIP' })).toBe(true);
  });
});
