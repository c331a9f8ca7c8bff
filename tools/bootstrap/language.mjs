/**
 * The language of the person at the terminal, as gettext finds it: `LANGUAGE`, then `LC_ALL`, `LC_MESSAGES` and `LANG`. A locale
 * with another encoding than UTF-8 gets English, which every terminal shows. Windows has none of these variables.
 */
export function terminalLanguage(env = process.env, platform = process.platform) {
  const windows = platform === 'win32' ? Intl.DateTimeFormat().resolvedOptions().locale : '';
  const locale = env.LC_ALL || env.LC_MESSAGES || env.LANG || windows;
  if (/^(C|POSIX)(\.|$)/.test(locale) || /\.(?!utf-?8)/i.test(locale)) return 'en';
  for (const tag of [...(env.LANGUAGE ?? '').split(':'), locale]) {
    if (/^zh/i.test(tag)) return 'zh-CN';
    if (/^en/i.test(tag)) return 'en';
  }
  return 'en';
}

const LANGUAGE = terminalLanguage();

/** A text for the person at the terminal. Both languages are here: the first texts come before anything is installed. */
export function localized(english, chinese) {
  return localizedText({ en: english, 'zh-CN': chinese });
}

/** One of the two texts that an error of a library has. */
export function localizedText(text) {
  return text[LANGUAGE];
}
