import type { Language, Messages } from '@gatehouse/i18n';
import { sharedMessages } from '../../apps/console/src/shared/messages/index.js';
import { zhCN as sharedZh } from '../../apps/console/src/shared/messages/zh-CN.js';
import { en as proxy } from '../../apps/console/src/proxy/messages/en/index.js';
import { zhCN as proxyZh } from '../../apps/console/src/proxy/messages/zh-CN/index.js';
import { en as tunnel } from '../../apps/console/src/tunnel/messages/en/index.js';
import { zhCN as tunnelZh } from '../../apps/console/src/tunnel/messages/zh-CN/index.js';
import { CATALOGUES as SITE } from '../../apps/resource-sharing/src/messages/index.js';

/** All texts of each program, by language. */
const CATALOGUES: Readonly<Record<'proxy' | 'sharing' | 'tunnel', Readonly<Record<Language, Messages>>>> = {
  proxy: { en: { ...sharedMessages, ...proxy }, 'zh-CN': { ...sharedZh, ...proxyZh } },
  sharing: SITE,
  tunnel: { en: { ...sharedMessages, ...tunnel }, 'zh-CN': { ...sharedZh, ...tunnelZh } },
};

export type Program = keyof typeof CATALOGUES;

/** Lets a journey name a label in English and find it in either language. */
export class Words {
  readonly #translations = new Map<string, Set<string>>();

  constructor(
    program: Program,
    readonly language: Language,
  ) {
    const { en, [language]: translated } = CATALOGUES[program];
    this.#collect(en, translated);
  }

  /**
   * The whole text of a label. English texts that have several translations match each of them.
   *
   * @param values of the placeholders in the message; others match anything
   * @throws Error for a text that no catalogue has
   */
  label(english: string, values: Readonly<Record<string, string>> = {}): RegExp {
    const found = this.#translations.get(english);
    if (found === undefined) throw new Error(`no catalogue has the text "${english}"`);
    return new RegExp(`^\\s*(?:${[...found].map((message) => patternOf(message, values)).join('|')})\\s*$`);
  }

  /** Whether a text is one of the catalogue's, in English. */
  has(text: string): boolean {
    return this.#translations.has(text);
  }

  #collect(english: Messages, translated: Messages): void {
    for (const [key, text] of Object.entries(english)) {
      const other = translated[key];
      if (typeof text === 'object') this.#collect(text, other as Messages);
      else this.#translations.set(text, (this.#translations.get(text) ?? new Set()).add(other as string));
    }
  }
}

const PLACEHOLDER = /\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/;

function patternOf(message: string, values: Readonly<Record<string, string>>): string {
  const [before = '', ...rest] = message.replaceAll(/<\/?\w+>/g, '').split(PLACEHOLDER);
  const names = message.match(new RegExp(PLACEHOLDER, 'g')) ?? [];
  return rest.reduce((pattern, part, index) => {
    const value = values[/\w+/.exec(names[index]!)![0]];
    return pattern + (value === undefined ? '.*' : escaped(value)) + escaped(part);
  }, escaped(before));
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
