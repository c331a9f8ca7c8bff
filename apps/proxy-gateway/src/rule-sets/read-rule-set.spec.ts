import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { openEntries, readRuleSet } from './read-rule-set.js';

const form = { format: 'text', behavior: 'domain' } as const;

describe('reading a rule set', () => {
  it('refuses what could be stored and never be opened again', async () => {
    const content = Buffer.from('a.example\nb.example\n');
    const lines = 'a.example\nb.example'.length;
    expect(await openEntries(readRuleSet(content, form, lines).data)).toEqual(['a.example', 'b.example']);
    expect(() => readRuleSet(content, form, lines - 1)).toThrow(RuleSetFileError);
  });
});
