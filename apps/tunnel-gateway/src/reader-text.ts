import { readerTexts } from '@gatehouse/platform';
import { TUNNEL_ERROR_TEXTS } from './error-texts.zh-CN.js';

/** A text that was stored or made in English, in the language of the request that runs. */
export const readerText: (english: string) => string = readerTexts(TUNNEL_ERROR_TEXTS);
