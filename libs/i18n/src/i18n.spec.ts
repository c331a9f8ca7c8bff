import { describe, expect, it } from 'vitest';
import {
  acceptedLanguage,
  compareCatalogues,
  createTranslator,
  isLanguage,
  matchLanguage,
  type Translation,
} from './index.js';

const en = {
  plain: "a reader's 5 < 6 text",
  list: {
    count: '{count, plural, one {# node} other {# nodes}}',
    greeting: 'Hello {name}',
    rich: 'Ask <b>{name}</b> or {other}.',
  },
} as const;
const zhCN: Translation<typeof en> = {
  plain: '文字',
  list: {
    count: '{count, plural, other {# 个节点}}',
    greeting: '{name}，你好',
    rich: '请咨询 <b>{name}</b> 或 {other}。',
  },
};

describe('the language of a reader', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ['zh', 'zh-CN'],
    ['zh-Hant-TW', 'zh-CN'],
    ['en-GB,zh;q=0.5', 'en'],
    ['en;q=0.2, zh;q=0.8', 'zh-CN'],
    ['zh;q=0, en', 'en'],
    ['fr, zh;q=0.3', 'zh-CN'],
    ['fr-FR, de', 'en'],
    [';;;,,q=', 'en'],
    ['zhuang', 'en'],
  ])('for Accept-Language %j is %s', (header, language) => {
    expect(acceptedLanguage(header)).toBe(language);
  });

  it('is read from tags as browsers send them', () => {
    expect([matchLanguage(['de', 'ZH-hans']), matchLanguage([])]).toEqual(['zh-CN', 'en']);
    expect([isLanguage('zh-CN'), isLanguage('zh'), isLanguage(null)]).toEqual([true, false, false]);
  });
});

describe('a translator', () => {
  const english = createTranslator<typeof en>('en', en);
  const chinese = createTranslator<typeof en>('zh-CN', zhCN);

  it('returns plain messages unchanged', () => {
    expect([english.text('plain'), chinese.text('plain')]).toEqual([en.plain, '文字']);
  });

  it('chooses plurals by the language and groups digits', () => {
    expect([1, 2, 12_345].map((count) => english.text('list.count', { count }))).toEqual([
      '1 node',
      '2 nodes',
      '12,345 nodes',
    ]);
    expect(chinese.text('list.count', { count: 1 })).toBe('1 个节点');
  });

  it('treats values as text, whatever they contain', () => {
    expect(english.text('list.greeting', { name: "{x} <b>'" })).toBe("Hello {x} <b>'");
  });

  it('keeps elements apart from text', () => {
    const b = (inside: unknown[]) => ({ bold: inside });
    expect(english.rich('list.rich', { name: 'Ann', other: { bold: ['Bo'] }, b })).toEqual([
      'Ask ',
      { bold: ['Ann'] },
      ' or ',
      { bold: ['Bo'] },
      '.',
    ]);
    expect(english.rich('plain')).toEqual([en.plain]);
  });

  it('refuses a missing value and an unknown message', () => {
    // @ts-expect-error: the compiler refuses it, too
    expect(() => english.text('list.greeting', {})).toThrow(/name/);
    // @ts-expect-error: the compiler refuses it, too
    expect(() => english.text('list.nothing')).toThrow('There is no message list.nothing.');
  });
});

describe('compareCatalogues', () => {
  it('finds nothing in two catalogues that agree', () => {
    expect(compareCatalogues(en, 'zh-CN', zhCN)).toEqual([]);
  });

  it('names unreadable messages, and placeholders that only one has', () => {
    const broken = { ...zhCN, list: { ...zhCN.list, count: '{count, plural, one {#}}', greeting: '你好 {nmae}' } };
    expect(compareCatalogues(en, 'zh-CN', broken)).toEqual([
      expect.stringMatching(/^list\.count: .* cannot be read: /),
      'list.greeting: "name" in English, "nmae" in zh-CN',
    ]);
  });
});
