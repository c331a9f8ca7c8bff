/** Tags of BCP 47 that pages and messages exist in; the first is the one for readers of any other language. */
export const LANGUAGES = ['en', 'zh-CN'] as const;

export type Language = (typeof LANGUAGES)[number];

/** Each language in its own words, for a switch between them. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', 'zh-CN': '简体中文' };

/** Cookie of the pages and key in the browser's storage: the language that a reader chose. */
export const LANGUAGE_COOKIE = 'gatehouse_language';

export function isLanguage(value: unknown): value is Language {
  return LANGUAGES.includes(value as Language);
}

/** The first of the reader's languages (`navigator.languages`, best first) that messages exist in. */
export function matchLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const primary = tag.split('-')[0]?.toLowerCase();
    // Readers of traditional characters are better served by simplified ones than by English.
    if (primary === 'zh') return 'zh-CN';
    if (primary === 'en') return 'en';
  }
  return LANGUAGES[0];
}
