import { ErrorTranslator } from '@gatehouse/platform';
import { untranslatedTexts } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { TUNNEL_ERROR_TEXTS } from './error-texts.zh-CN.js';

const translator = new ErrorTranslator(TUNNEL_ERROR_TEXTS);

it('every error of the service has a Chinese text', () => {
  expect(untranslatedTexts(new URL('.', import.meta.url), translator)).toEqual([]);
});

it('says in Chinese why a certificate was not ordered, and leaves the words of an authority', () => {
  const said = (text: string): string => translator.text('zh-CN', text);
  expect(said('connection: ca.example.org:14000: no answer in 30 s')).toBe(
    'connection: ca.example.org:14000: 30 秒内没有响应',
  );
  expect(said('a.example got no certificate: answer: it offers no dns-01')).toBe(
    'a.example 未能获得证书：answer: 不提供 dns-01 验证',
  );
  expect(said('unauthorized: the CAA record forbids it')).toBe('unauthorized: the CAA record forbids it');
});

it.each([
  ['0.0.0.0:80 is in use', '0.0.0.0:80 已被占用'],
  ['[::]:80 is not allowed', '不允许监听 [::]:80'],
  ['0.0.0.0:80 cannot be bound (EADDRNOTAVAIL)', '无法监听 0.0.0.0:80（EADDRNOTAVAIL）'],
  ['chat.example could not be asked', '无法连接 chat.example'],
  ['chat.example:8443 is not to be reached', '不允许连接 chat.example:8443'],
  ['the answer was 500', '响应状态码为 500'],
])('says in Chinese what is stored with a tunnel or a delivery: %s', (stored, chinese) => {
  expect(translator.text('zh-CN', stored)).toBe(chinese);
});
