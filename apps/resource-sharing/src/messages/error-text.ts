import type { Language } from '@gatehouse/i18n';
import { ErrorTranslator } from '@gatehouse/platform';
import { SHARING_ERROR_TEXTS } from '../error-texts.zh-CN.js';

const TRANSLATOR = new ErrorTranslator(SHARING_ERROR_TEXTS);

/** A text of an error, which is English in the code, as a page in this language shows it. */
export function errorText(language: Language, english: string): string {
  return TRANSLATOR.text(language, english);
}
