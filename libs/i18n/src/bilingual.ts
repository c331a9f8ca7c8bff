import type { Language } from './languages.js';

/** A text in both languages, side by side: for the few that a program prints before it knows any catalogue. */
export type Bilingual = Readonly<Record<Language, string>>;

export function bilingual(english: string, chinese: string): Bilingual {
  return { en: english, 'zh-CN': chinese };
}

/** An error for people at a terminal, who read `text` in their language. Logs have `message`, which is English. */
export class BilingualError extends Error {
  readonly text: Bilingual;

  constructor(text: Bilingual, options?: ErrorOptions) {
    super(text.en, options);
    this.text = text;
  }
}
