import { AppError } from '@gatehouse/platform';

const MAX_INPUT_SHOWN = 200;

/** A text that is no list of rules. */
export function invalidText(message: string, cause?: unknown): AppError {
  return new AppError('INVALID_ARGUMENT', `text: ${message}`, { details: [{ field: 'text', message }], cause });
}

/** As much of an entry as an error shows. */
export function cut(input: string): string {
  const short = input.slice(0, MAX_INPUT_SHOWN);
  // Never half a character.
  return /[\uD800-\uDBFF]$/.test(short) ? short.slice(0, -1) : short;
}
