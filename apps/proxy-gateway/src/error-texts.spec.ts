import { ErrorTranslator } from '@gatehouse/platform';
import { untranslatedTexts } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { PROXY_ERROR_TEXTS } from './error-texts.zh-CN.js';

const translator = new ErrorTranslator(PROXY_ERROR_TEXTS);

it.each(['./', '../../../libs/subscription-formats/src/', '../../../libs/proxy-kernel/src/'])(
  'every error of %s has a Chinese text',
  (folder) => {
    expect(untranslatedTexts(new URL(folder, import.meta.url), translator)).toEqual([]);
  },
);

it('says why the kernel refuses a configuration in Chinese', () => {
  const said = (text: string): string => translator.text('zh-CN', text);
  expect(said('The configuration cannot run: listeners[0]: 127.0.0.1:7890 is in use')).toBe(
    '配置无法运行：listeners[0]: 127.0.0.1:7890 已被占用',
  );
  expect(said('rules[3].payload: not a usable regular expression: a ( that is not closed at position 5')).toBe(
    'rules[3].payload: 正则表达式不可用：第 5 个字符处( 没有闭合',
  );
  expect(said('DOMAIN-REGEX: longer than 100 characters')).toBe('DOMAIN-REGEX: 超过 100 个字符');
});

it('says what a refused node lacks in Chinese', () => {
  const said = (text: string): string => translator.text('zh-CN', text);
  expect(said('raw_config: password is missing')).toBe('raw_config: 缺少 password');
  expect(said('port must be a whole number from 1 to 65535')).toBe('port 必须是：1 到 65535 之间的整数');
  expect(said('headers must be a JSON object of texts')).toBe('headers 必须是：由文本组成的 JSON 对象');
});
