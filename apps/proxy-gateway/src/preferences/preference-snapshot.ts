import { isPreferenceKey, PREFERENCE_KEYS, PREFERENCES } from './preference-definitions.js';
import type { PreferenceKey, PreferenceValue } from './preference-definitions.js';
import { PreferenceError } from './preference-types.js';

/** Parses one value. @throws PreferenceError for an unknown key or an invalid value. */
export function parsePreference<K extends PreferenceKey>(key: K, text: string): PreferenceValue<K> {
  try {
    // The parser of a key returns the type of that key, which TypeScript cannot follow through the union.
    return PREFERENCES[key].parse(text) as PreferenceValue<K>;
  } catch (cause) {
    throw new PreferenceError(key, cause instanceof Error ? cause.message : String(cause));
  }
}

/** All values at one moment: the rows of the table over the defaults. Immutable. */
export class PreferenceSnapshot {
  readonly #texts: Readonly<Record<PreferenceKey, string>>;
  readonly #values: ReadonlyMap<PreferenceKey, unknown>;
  /** The rows that could not be used, with the reason. */
  readonly rejected: readonly PreferenceError[];

  constructor(rows: Iterable<{ key: string; value: string }> = []) {
    const texts = new Map(PREFERENCE_KEYS.map((key) => [key, PREFERENCES[key].defaultText]));
    const rejected: PreferenceError[] = [];
    for (const { key, value } of rows) {
      const problem = problemOf(key, value);
      if (problem === null) texts.set(key as PreferenceKey, value);
      else rejected.push(problem);
    }
    this.#texts = Object.freeze(Object.fromEntries(texts) as Record<PreferenceKey, string>);
    this.#values = new Map([...texts].map(([key, value]) => [key, parsePreference(key, value)]));
    this.rejected = rejected;
  }

  get<K extends PreferenceKey>(key: K): PreferenceValue<K> {
    return this.#values.get(key) as PreferenceValue<K>;
  }

  /** Every key with its text, as the settings API shows it. Returns the same object each time. */
  texts(): Readonly<Record<PreferenceKey, string>> {
    return this.#texts;
  }
}

/** Null if the row is valid. */
export function problemOf(key: string, value: string): PreferenceError | null {
  if (!isPreferenceKey(key)) return new PreferenceError(key, 'is not a setting');
  try {
    parsePreference(key, value);
    return null;
  } catch (error) {
    if (error instanceof PreferenceError) return error;
    throw error;
  }
}
