import { acceptedLanguage, isLanguage, LANGUAGE_COOKIE, type Language } from '@gatehouse/i18n';
import type { Request } from 'express';
import { siteMessages } from '../../messages/index.js';
import { THEMES, type ReaderView, type Theme } from '../../wire/visitor.js';

/** Cookie of all pages of this host name, consoles included. */
export const THEME_COOKIE = 'gatehouse_theme';

/** What the reader chose, else what the browser asks for. */
export function readerView({ headers }: Request, timeZone: string): ReaderView {
  const chosen = cookieOf(headers.cookie, LANGUAGE_COOKIE);
  const language = isLanguage(chosen) ? chosen : acceptedLanguage(headers['accept-language']);
  return { words: siteMessages(language), theme: themeOf(cookieOf(headers.cookie, THEME_COOKIE)), timeZone };
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
