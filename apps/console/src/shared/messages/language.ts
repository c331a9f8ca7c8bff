import { isLanguage, LANGUAGE_COOKIE, matchLanguage, type Language } from '@gatehouse/i18n';

/** The reader's choice, else the first of the browser's languages that there is. */
export function pageLanguage(): Language {
  const chosen = readCookie(LANGUAGE_COOKIE);
  return isLanguage(chosen) ? chosen : matchLanguage(navigator.languages);
}

/** Remembers the choice for all pages of this host name, and loads this one again. */
export function chooseLanguage(language: Language): void {
  writeCookie(LANGUAGE_COOKIE, language);
  // A browser that takes no cookies would load the page again and again.
  if (pageLanguage() === language) location.reload();
}

export function readCookie(name: string): string | undefined {
  const start = `${name}=`;
  return document.cookie
    .split('; ')
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
}

const A_YEAR_SECONDS = 31_536_000;

/** For a choice of the reader that the services' own pages read, too. */
export function writeCookie(name: string, value: string): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${name}=${value}; path=/; max-age=${A_YEAR_SECONDS}; samesite=lax${secure}`;
}
