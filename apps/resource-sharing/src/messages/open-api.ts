import {
  acceptedLanguage,
  createTranslator,
  type Language,
  type MessageKey,
  type MessageValues,
  type Translator,
} from '@gatehouse/i18n';
import { currentAcceptLanguage } from '@gatehouse/platform';
import { openApi as english } from './en/open-api.js';
import { openApi as chinese } from './zh-CN/open-api.js';

type OpenMessages = typeof chinese;

const TRANSLATORS: Readonly<Record<Language, Translator<OpenMessages>>> = {
  en: createTranslator<OpenMessages>('en', english),
  'zh-CN': createTranslator<OpenMessages>('zh-CN', chinese),
};

/**
 * A text of the open API for the current request. A client that asks for no language, like those from before there was
 * a choice, gets the texts that it knows.
 */
export function openText<K extends MessageKey<OpenMessages>>(
  key: K,
  ...values: MessageValues<OpenMessages, K>
): string {
  return TRANSLATORS[openLanguage(currentAcceptLanguage())].text(key, ...values);
}

/** `*` is what HTTP clients send by default. */
function openLanguage(wanted: string | undefined): Language {
  return wanted === undefined || wanted === '' || wanted.startsWith('*') ? 'zh-CN' : acceptedLanguage(wanted);
}

/** For the test that compares them. */
export const OPEN_CATALOGUES = { en: english, 'zh-CN': chinese };
