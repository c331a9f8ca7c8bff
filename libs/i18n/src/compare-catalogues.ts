import { IntlMessageFormat } from 'intl-messageformat';
import type { Language } from './languages.js';
import type { Messages, Translation } from './messages.js';

/**
 * What is wrong with a translation, one line each: a message that is no ICU message, and placeholders or tags that one of
 * the two has alone. Names are compared by the compiler.
 */
export function compareCatalogues<M extends Messages>(
  english: M,
  language: Language,
  translation: Translation<M>,
): string[] {
  const translated = flatten(translation as Messages);
  return [...flatten(english)].flatMap(([key, text]) => {
    const names = [argumentsOf('en', text), argumentsOf(language, translated.get(key) ?? '')];
    const broken = names.find((name) => typeof name === 'string');
    if (broken !== undefined) return [`${key}: ${broken as string}`];
    const [own, other] = names.map((set) => [...(set as Set<string>)].sort().join(' '));
    return own === other ? [] : [`${key}: "${own}" in English, "${other}" in ${language}`];
  });
}

/** Every message by its whole key. */
export function flatten(messages: Messages, before = ''): Map<string, string> {
  const entries = Object.entries(messages).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[before + name, value]] : [...flatten(value, `${before}${name}.`)],
  );
  return new Map(entries);
}

/** Names of placeholders and tags, or why it cannot be read. */
function argumentsOf(language: Language, text: string): Set<string> | string {
  try {
    const names = new Set<string>();
    collect(new IntlMessageFormat(text, language).getAst(), names);
    return names;
  } catch (error) {
    return `"${text}" cannot be read: ${String(error)}`;
  }
}

interface Element {
  readonly value?: unknown;
  /** Branches of a plural or a choice. */
  readonly options?: Readonly<Record<string, { readonly value: readonly Element[] }>>;
  /** What a tag is around. */
  readonly children?: readonly Element[];
  readonly type: number;
}

/** `TYPE.literal` and `TYPE.pound` of the parser, which exports them in a form that `isolatedModules` forbids. */
const LITERAL = 0;
const POUND = 7;

function collect(elements: readonly Element[], names: Set<string>): void {
  for (const { type, value, options = {}, children = [] } of elements) {
    if (type !== LITERAL && type !== POUND) names.add(String(value));
    for (const option of Object.values(options)) collect(option.value, names);
    collect(children, names);
  }
}
