import { zstdCompressSync } from 'node:zlib';
import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { firstEntries, openEntries, readRuleSet } from './read-rule-set.js';

const form = { format: 'text', behavior: 'domain' } as const;

describe('reading a rule set', () => {
  it('refuses sets that could be stored but not opened again', async () => {
    const content = Buffer.from('a.example\nb.example\n');
    const lines = 'a.example\nb.example'.length;
    expect(await openEntries(readRuleSet(content, form, lines).data)).toEqual(['a.example', 'b.example']);
    expect(() => readRuleSet(content, form, lines - 1)).toThrow(RuleSetFileError);
  });
});

describe('firstEntries', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => `h${i}.example`);

  it('returns the first of many entries, all of a few, and none of none', async () => {
    const { data } = readRuleSet(Buffer.from(many.join('\n')), { format: 'text', behavior: 'domain' });
    expect(await firstEntries(data, 100)).toEqual(many.slice(0, 100));
    expect(await firstEntries(data, 60_000)).toEqual(many);
    expect(await firstEntries(zstdCompressSync(''), 100)).toEqual([]);
  });

  it('does not read the entries behind them', async () => {
    const { data } = readRuleSet(Buffer.from(many.join('\n')), { format: 'text', behavior: 'domain' });
    const cut = data.subarray(0, data.length - 20);
    await expect(openEntries(cut)).rejects.toThrow();
    expect(await firstEntries(cut, 100)).toEqual(many.slice(0, 100));
  });
});
