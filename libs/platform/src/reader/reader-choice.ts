import type { IncomingHttpHeaders } from 'node:http';
import { THEMES, type Theme } from '@gatehouse/contracts';
import { acceptedLanguage, isLanguage, LANGUAGE_COOKIE, type Language } from '@gatehouse/i18n';

/** Cookie of all pages of this host name, consoles included: the theme that a reader chose. */
export const THEME_COOKIE = 'gatehouse_theme';

/** What a reader chose on any page of this host, or else what the browser prefers. */
export function readerLanguage(headers: IncomingHttpHeaders): Language {
  const chosen = cookieOf(headers.cookie, LANGUAGE_COOKIE);
  return isLanguage(chosen) ? chosen : acceptedLanguage(headers['accept-language']);
}

export function readerTheme(headers: IncomingHttpHeaders): Theme {
  return themeOf(cookieOf(headers.cookie, THEME_COOKIE));
}

/** The system's theme where the text names none. */
export function themeOf(text: string | undefined): Theme {
  return THEMES.find((theme) => theme === text) ?? 'system';
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  return header
    ?.split(/; */)
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
}
