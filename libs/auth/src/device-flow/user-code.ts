import { randomInt } from 'node:crypto';

/** RFC 8628 section 6.1: consonants, so that no code is a word; 34 bits. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** A code that people copy from a screen, such as `WDJB-MJHT`. */
export function createUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)] ?? '').join('');
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}

/** The spelling under which it is stored, of any that people type; undefined for a text that cannot be a code. */
export function parseUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  if (letters.length !== LENGTH || letters.split('').some((letter) => !LETTERS.includes(letter))) return undefined;
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}
