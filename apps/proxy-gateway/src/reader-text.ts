import { readerTexts } from '@gatehouse/platform';
import { PROXY_ERROR_TEXTS } from './error-texts.zh-CN.js';

/** A text that was stored or made in English, in the language of the request that runs. */
export const readerText: (english: string) => string = readerTexts(PROXY_ERROR_TEXTS);
