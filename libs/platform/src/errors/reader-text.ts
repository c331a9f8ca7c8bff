import { acceptedLanguage } from '@gatehouse/i18n';
import { currentAcceptLanguage } from '../logging/request-context.js';
import type { ErrorTexts } from './error-texts.js';
import { ErrorTranslator } from './error-translator.js';

/**
 * Says texts that were stored or made in English in the language of the request that runs, English outside of requests.
 * `texts`: those of the service.
 */
export function readerTexts(texts: ErrorTexts): (english: string) => string {
  const translator = new ErrorTranslator(texts);
  return (english) => translator.text(acceptedLanguage(currentAcceptLanguage()), english);
}
