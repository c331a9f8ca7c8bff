import { countryName } from '../data/country-names.js';

export const MAX_TAGS = 32;
export const MAX_TAG_LENGTH = 64;

/** Trims tags and drops empty and repeated ones, keeping their order. An unpaired surrogate becomes U+FFFD. */
export function tidyTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map((tag) => tag.toWellFormed().trim()).filter((tag) => tag !== ''))];
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Whether a value is a list of texts that can be the tags of a node. */
export function isTagList(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_TAGS &&
    value.every((tag) => typeof tag === 'string' && tag.length <= MAX_TAG_LENGTH && !/\p{Cc}/u.test(tag))
  );
}

/** The code in upper case; null for an unknown country. */
export function readCountryCode(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value.trim())) return null;
  const code = value.trim().toUpperCase();
  return countryName(code) === null ? null : code;
}
