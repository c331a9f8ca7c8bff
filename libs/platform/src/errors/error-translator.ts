import { ERROR_CATALOGUE, type ErrorCode } from '@gatehouse/contracts';
import type { Language } from '@gatehouse/i18n';
import type { ErrorTexts } from './error-texts.js';
import { SHARED_ERROR_TEXTS } from './texts/error-texts.zh-CN.js';
import { ERROR_TITLES } from './texts/error-titles.zh-CN.js';

interface Pattern {
  expression: RegExp;
  translation: string;
}

/** Longer texts are only compared as a whole, so that no text of a client can make the patterns slow. */
const LONGEST = 300;
/** A text within a text may contain another one. */
const DEPTH = 4;
/** Placeholders for texts; the others are values, such as names that people chose. */
const TEXTS = new Set(['problem', 'reason', 'effect', 'whose', 'action', 'visitors']);
const PLACEHOLDER = /\{(\w+)\}/g;
/** `rules[2].payload: must be …`: the name of a field, or of a server with its port, precedes the problem. */
const FIELD = /^([\w.[\]-]{1,100}(?::\d{1,5})?): (.+)$/s;

/** Translates error texts for the reader. Texts without a translation stay English. */
export class ErrorTranslator {
  private readonly texts = new Map<string, string>();
  private readonly patterns: Pattern[] = [];

  /** `texts`: those of the service; those of the codes and of the shared libraries are built in. */
  constructor(texts: ErrorTexts = {}) {
    for (const [code, title] of Object.entries(ERROR_TITLES)) {
      this.texts.set(ERROR_CATALOGUE[code as ErrorCode].title, title);
    }
    const all = Object.entries({ ...SHARED_ERROR_TEXTS, ...texts });
    // The pattern with the most words of its own is the right one.
    all.sort(([one], [other]) => literalLength(other) - literalLength(one));
    for (const [english, translation] of all) {
      if (english.search(PLACEHOLDER) < 0) this.texts.set(english, translation);
      else this.patterns.push({ expression: expressionOf(english), translation });
    }
  }

  text(language: Language, english: string): string {
    return language === 'en' ? english : this.translate(english, DEPTH);
  }

  private translate(english: string, depth: number): string {
    const whole = this.texts.get(english);
    if (whole !== undefined || depth === 0) return whole ?? english;
    const [, field, problem] = FIELD.exec(english) ?? [];
    if (field !== undefined && problem !== undefined) {
      const said = this.translate(problem, depth - 1);
      if (said !== problem) return `${field}: ${said}`;
    }
    return this.byPattern(english, depth) ?? english;
  }

  private byPattern(english: string, depth: number): string | undefined {
    if (english.length > LONGEST) return undefined;
    for (const { expression, translation } of this.patterns) {
      const values = expression.exec(english)?.groups;
      if (values === undefined) continue;
      return translation.replace(PLACEHOLDER, (_, name: string) => {
        const value = values[name] ?? '';
        return TEXTS.has(name) ? this.translate(value, depth - 1) : value;
      });
    }
    return undefined;
  }
}

function literalLength(english: string): number {
  return english.replace(PLACEHOLDER, '').length;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function expressionOf(english: string): RegExp {
  const parts = english.split(PLACEHOLDER).map((part, index) => (index % 2 === 1 ? `(?<${part}>.+?)` : escaped(part)));
  return new RegExp(`^${parts.join('')}$`, 's');
}
