import { AppError } from '@gatehouse/platform';

const MAX_INPUT_SHOWN = 200;

/** The error for a text that is not a list of rules. */
export function invalidText(message: string, cause?: unknown): AppError {
  return new AppError('INVALID_ARGUMENT', `text: ${message}`, { details: [{ field: 'text', message }], cause });
}

/** The part of an entry that an error shows. */
export function cut(input: string): string {
  const short = input.slice(0, MAX_INPUT_SHOWN);
  // Does not split a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(short) ? short.slice(0, -1) : short;
}
