import { acceptedLanguage } from '@gatehouse/i18n';
import { currentAcceptLanguage } from '../logging/request-context.js';
import type { ErrorTexts } from './error-texts.js';
import { ErrorTranslator } from './error-translator.js';

/**
 * Translates texts that were stored or created in English into the language of the current request; outside of requests
 * they stay English. `texts`: those of the service.
 */
export function readerTexts(texts: ErrorTexts): (english: string) => string {
  const translator = new ErrorTranslator(texts);
  return (english) => translator.text(acceptedLanguage(currentAcceptLanguage()), english);
}
