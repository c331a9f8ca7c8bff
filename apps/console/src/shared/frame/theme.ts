import { THEMES, type Theme } from '@gatehouse/contracts';
import { readCookie, writeCookie } from '../messages/language.js';

/** Cookie of all pages of this host name. */
const THEME_COOKIE = 'gatehouse_theme';

export function chosenTheme(): Theme {
  return THEMES.find((theme) => theme === readCookie(THEME_COOKIE)) ?? 'system';
}

/** Remembers the choice and shows it at once. */
export function chooseTheme(theme: Theme): void {
  writeCookie(THEME_COOKIE, theme);
  showTheme(theme);
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}
