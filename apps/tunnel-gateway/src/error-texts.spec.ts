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
