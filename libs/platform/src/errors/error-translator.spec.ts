import { ERROR_CATALOGUE } from '@gatehouse/contracts';
import { untranslatedTexts } from '@gatehouse/testing';
import { describe, expect, it } from 'vitest';
import { ErrorTranslator } from './error-translator.js';

const translator = new ErrorTranslator({
  'There is no node {id}.': '节点 {id} 不存在。',
  'The configuration cannot run: {reason}': '配置无法运行：{reason}',
  '{name} is taken': '{name} 已被使用',
});
const chinese = (text: string): string => translator.text('zh-CN', text);

describe('error texts', () => {
  it('stay as they are in English', () => {
    expect(translator.text('en', 'There is no node 7.')).toBe('There is no node 7.');
  });

  it('have the values of the English text', () => {
    expect(chinese('There is no node 7.')).toBe('节点 7 不存在。');
    expect(chinese('must be shorter than or equal to 64 characters')).toBe('不能超过 64 个字符');
    expect(chinese('a$&b is taken')).toBe('a$&b 已被使用');
    // A name that a user chose is not translated.
    expect(chinese('must be a string is taken')).toBe('must be a string 已被使用');
  });

  it('are translated after the name of a field, and within another text', () => {
    expect(chinese('rules[2].payload: must be a string')).toBe('rules[2].payload: 必须是文本');
    expect(chinese('connection: ca.example:443: must be a string')).toBe('connection: ca.example:443: 必须是文本');
    expect(chinese('each value in tags must be a string')).toBe('每一项必须是文本');
    expect(chinese('The configuration cannot run: There is no node 7.')).toBe('配置无法运行：节点 7 不存在。');
  });

  it('stay English if they are unknown', () => {
    expect(chinese('Nothing of the kind')).toBe('Nothing of the kind');
    expect(chinese('name: nothing of the kind')).toBe('name: nothing of the kind');
  });

  it('are found quickly, whatever their length', () => {
    const long = `There is no node ${' is taken'.repeat(100_000)}`;
    expect(chinese(long)).toBe(long);
    expect(chinese(`${'a: '.repeat(100_000)}b`)).toContain('b');
  });

  it('exist for every code', () => {
    for (const { title } of Object.values(ERROR_CATALOGUE)) expect(chinese(title)).toMatch(/\p{Script=Han}/u);
  });

  it.each(['platform', 'auth', 'audit', 'changes', 'jobs', 'service'])(
    'exist for every error of libs/%s',
    (library) => {
      const folder = new URL(`../../../${library}/src/`, import.meta.url);
      expect(untranslatedTexts(folder, new ErrorTranslator())).toEqual([]);
    },
  );
});
