import type { Theme } from '@gatehouse/contracts';
import { isLanguage, type Language } from '@gatehouse/i18n';
import { readerLanguage, readerTheme } from '@gatehouse/platform';
import type { Request } from 'express';
import { siteMessages } from '../../messages/index.js';
import type { ReaderView } from '../../wire/visitor.js';

/** The stored choice of the account, or else that of this browser, or else the browser's preference. */
export function readerView(
  { headers }: Request,
  timeZone: string,
  kept: { readonly language: Language | null; readonly theme: Theme | null } | null = null,
): ReaderView {
  const language = kept?.language ?? readerLanguage(headers);
  return { words: siteMessages(language), theme: kept?.theme ?? readerTheme(headers), timeZone };
}

export function languageOf(text: string | undefined): Language | undefined {
  return isLanguage(text) ? text : undefined;
}
