import { ErrorTranslator } from '@gatehouse/platform';
import { expect, it } from 'vitest';
import { PROXY_ERROR_TEXTS } from '../error-texts.zh-CN.js';
import { translateMirrorErrors } from './mirror-errors.js';

const translator = new ErrorTranslator(PROXY_ERROR_TEXTS);
const inChinese = (error: string): string =>
  translateMirrorErrors(error, (english) => translator.text('zh-CN', english));

it('translates the error of each mirror', () => {
  const error =
    'github.com: The server cannot be reached or broke the connection (UND_ERR_ABORTED). mirror.example:8443: The server answered 502.';
  expect(inChinese(error)).toBe(
    'github.com: 无法连接服务器，或连接中断 (UND_ERR_ABORTED)。 mirror.example:8443: 服务器返回状态码 502。',
  );
  expect(inChinese('a.example: The address is private or reserved; geo.allow_private allows it.')).toBe(
    'a.example: 地址属于私有或保留网段；可开启 geo.allow_private。',
  );
});

it('leaves what it does not know', () => {
  expect(inChinese('a.example: Something else. b.example: Another: thing.')).toBe(
    'a.example: Something else. b.example: Another: thing.',
  );
});
