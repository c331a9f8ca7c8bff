import { ErrorTranslator } from '@gatehouse/platform';
import { untranslatedTexts } from '@gatehouse/testing';
import { expect, it } from 'vitest';
import { PROXY_ERROR_TEXTS } from './error-texts.zh-CN.js';

it('every error of the service has a Chinese text', () => {
  expect(untranslatedTexts(new URL('.', import.meta.url), new ErrorTranslator(PROXY_ERROR_TEXTS))).toEqual([]);
});
