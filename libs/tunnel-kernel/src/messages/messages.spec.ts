import { compareCatalogues } from '@gatehouse/i18n';
import { describe, expect, it } from 'vitest';
import { VISITOR_CATALOGUES, visitorWords } from './index.js';

describe('texts for visitors', () => {
  it('have the same placeholders in both languages', () => {
    expect(compareCatalogues(VISITOR_CATALOGUES.en, 'zh-CN', VISITOR_CATALOGUES['zh-CN'])).toEqual([]);
  });

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['fr, zh-TW;q=0.8, en;q=0.5', 'zh-CN'],
    ['en-GB, zh;q=0.9', 'en'],
    [`${'x'.repeat(9000)};q=nonsense, zh;q=0`, 'en'],
  ])('for %j are in the language %s', (header, language) => {
    expect(visitorWords(header).language).toBe(language);
  });
});
