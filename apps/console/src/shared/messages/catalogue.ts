import {
  createTranslator,
  type Language,
  type MessageKey,
  type Messages,
  type MessageValues,
  type RichValue,
  type Translation,
} from '@gatehouse/i18n';
import type { VNode } from 'preact';

/** Texts of a console in the language of its page. */
export interface Catalogue<M> {
  /** Of the texts. */
  language: () => Language;
  /** Until this has resolved, texts are English. */
  use: (language: Language) => Promise<void>;
  /** A message as text. */
  t: <K extends MessageKey<M>>(key: K, ...values: MessageValues<M, K>) => string;
  /** A message with elements as values and around `<tag>text</tag>`. */
  rich: <K extends MessageKey<M>>(key: K, ...values: MessageValues<M, K, RichValue<VNode>>) => (string | VNode)[];
}

/**
 * The language is fixed before the page is drawn: modules may ask for texts when they are loaded. Choosing another language
 * loads the page again.
 */
export function createCatalogue<M extends Messages>(
  english: M & Translation<M>,
  loadChinese: () => Promise<Translation<M>>,
): Catalogue<M> {
  let current = createTranslator<M>('en', english);
  return {
    language: () => current.language,
    use: async (language) => {
      current = createTranslator<M>(language, language === 'en' ? english : await loadChinese());
    },
    t: (key, ...values) => current.text(key, ...values),
    rich: (key, ...values) => current.rich<VNode, typeof key>(key, ...values),
  };
}
