import { compareCatalogues } from '@gatehouse/i18n';
import { describe, expect, it } from 'vitest';
import { en as proxy } from '../../proxy/messages/en/index.js';
import { zhCN as proxyChinese } from '../../proxy/messages/zh-CN/index.js';
import { en as tunnel } from '../../tunnel/messages/en/index.js';
import { zhCN as tunnelChinese } from '../../tunnel/messages/zh-CN/index.js';
import { en } from './en.js';
import { zhCN } from './zh-CN.js';

describe('messages of the consoles', () => {
  it('have the same placeholders in both languages', () => {
    expect(compareCatalogues(en, 'zh-CN', zhCN)).toEqual([]);
    expect(compareCatalogues(proxy, 'zh-CN', proxyChinese)).toEqual([]);
    expect(compareCatalogues(tunnel, 'zh-CN', tunnelChinese)).toEqual([]);
  });

  it('of one console do not hide shared ones', () => {
    const names = [...Object.keys(proxy), ...Object.keys(tunnel)].filter((name) => Object.hasOwn(en, name));
    expect(names).toEqual([]);
  });
});
