import { IntlMessageFormat } from 'intl-messageformat';
import type { Language } from './languages.js';
import type { MessageKey, Messages, MessageValues, RichValue, Translation } from './messages.js';

/** Messages of one language as texts. `M`: the messages in English, which name the keys and their placeholders. */
export interface Translator<M> {
  readonly language: Language;
  /** The message as text. @throws Error for a placeholder without a value */
  text<K extends MessageKey<M>>(key: K, ...values: MessageValues<M, K>): string;
  /** The message in parts, with elements as values and around `<tag>text</tag>`. @throws Error as `text` */
  rich<Part, K extends MessageKey<M>>(key: K, ...values: MessageValues<M, K, RichValue<Part>>): (string | Part)[];
}

/** What ICU messages have besides plain text. */
const SYNTAX = /[{}<']/;

/** Reads ICU messages (plural, select, number, rich text) of a catalogue; each is parsed once, when it is first needed. */
export function createTranslator<M extends Messages>(language: Language, messages: Translation<M>): Translator<M> {
  const parsed = new Map<string, string | IntlMessageFormat>();
  const messageOf = (key: string): string | IntlMessageFormat => {
    let message = parsed.get(key);
    if (message === undefined) {
      const source = find(messages as Messages, key);
      message = SYNTAX.test(source) ? new IntlMessageFormat(source, language) : source;
      parsed.set(key, message);
    }
    return message;
  };
  const format = (key: string, [values]: readonly unknown[]): unknown => {
    const message = messageOf(key);
    return typeof message === 'string' ? message : message.format(values as Record<string, string> | undefined);
  };
  return {
    language,
    text: (key, ...values) => String(format(key, values)),
    rich: <Part>(key: string, ...values: readonly unknown[]) => [format(key, values)].flat() as (string | Part)[],
  };
}

function find(messages: Messages, key: string): string {
  let found: string | Messages | undefined = messages;
  for (const name of key.split('.')) found = typeof found === 'object' ? found[name] : undefined;
  if (typeof found !== 'string') throw new RangeError(`There is no message ${key}.`);
  return found;
}
