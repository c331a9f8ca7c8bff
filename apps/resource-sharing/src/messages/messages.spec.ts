import { compareCatalogues } from '@gatehouse/i18n';
import { describe, expect, it } from 'vitest';
import { CATALOGUES, siteMessages } from './index.js';
import { OPEN_CATALOGUES } from './open-api.js';

describe('messages of the site', () => {
  it('have the same placeholders in both languages', () => {
    expect(compareCatalogues(CATALOGUES.en, 'zh-CN', CATALOGUES['zh-CN'])).toEqual([]);
  });

  it('of the open API also have the same placeholders', () => {
    expect(compareCatalogues(OPEN_CATALOGUES['zh-CN'], 'en', OPEN_CATALOGUES.en)).toEqual([]);
  });

  it('are in the requested language', () => {
    expect(siteMessages('en').text('auditLog.entries', { count: 1 })).toBe('1 entry');
    expect(siteMessages('zh-CN').text('auditLog.entries', { count: 1 })).toBe('1 条记录');
  });
});
