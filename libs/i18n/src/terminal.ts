import type { Language } from './languages.js';

/**
 * The language of the person at a terminal, as gettext finds it: `LANGUAGE`, then `LC_ALL`, `LC_MESSAGES` and `LANG`. A locale
 * with another encoding than UTF-8 gets English, which every terminal shows. Windows has none of these variables.
 */
export function terminalLanguage(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Language {
  const windows = platform === 'win32' ? Intl.DateTimeFormat().resolvedOptions().locale : '';
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || windows;
  if (/^(C|POSIX)(\.|$)/.test(locale) || /\.(?!utf-?8)/i.test(locale)) return 'en';
  for (const tag of [...(env['LANGUAGE'] ?? '').split(':'), locale]) {
    if (/^zh/i.test(tag)) return 'zh-CN';
    if (/^en/i.test(tag)) return 'en';
  }
  return 'en';
}

/** Columns that a text takes: Chinese characters and full-width punctuation take two. */
export function terminalWidth(text: string): number {
  let width = 0;
  for (const character of text) width += /[\p{Script=Han}\u3000-\u303f\uff00-\uff60]/u.test(character) ? 2 : 1;
  return width;
}
