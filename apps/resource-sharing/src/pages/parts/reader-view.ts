import { acceptedLanguage, isLanguage, LANGUAGE_COOKIE, type Language } from '@gatehouse/i18n';
import type { Request } from 'express';
import { siteMessages } from '../../messages/index.js';
import { THEMES, type Theme } from '@gatehouse/contracts';
import type { ReaderView } from '../../wire/visitor.js';

/** Cookie of all pages of this host name, consoles included. */
export const THEME_COOKIE = 'gatehouse_theme';

/** The stored choice of the account, or else that of this browser, or else the browser's preference. */
export function readerView(
  { headers }: Request,
  timeZone: string,
  kept: { readonly language: Language | null; readonly theme: Theme | null } | null = null,
): ReaderView {
  const chosen = kept?.language ?? cookieOf(headers.cookie, LANGUAGE_COOKIE);
  const language = isLanguage(chosen) ? chosen : acceptedLanguage(headers['accept-language']);
  const theme = kept?.theme ?? themeOf(cookieOf(headers.cookie, THEME_COOKIE));
  return { words: siteMessages(language), theme, timeZone };
}

export function themeOf(text: string | undefined): Theme {
  return THEMES.find((theme) => theme === text) ?? 'system';
}

export function languageOf(text: string | undefined): Language | undefined {
  return isLanguage(text) ? text : undefined;
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  return header
    ?.split(/; */)
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
}
