import { fieldError } from '../wire/field-error.js';

/** Says where the next page begins, in words that only this service reads. */
export function cursorAfter(id: number): string {
  return Buffer.from(`i${id}`).toString('base64url');
}

/** @throws AppError VALIDATION_FAILED */
export function idOfCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^i(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits !== undefined && Number.isSafeInteger(Number(digits))) return Number(digits);
  throw fieldError('cursor', 'must be the next_cursor of an answer');
}

/** Where a page ended that is not in the order of ids. */
export interface SortedPlace {
  value: number;
  id: number;
}

export function sortedCursorAfter({ value, id }: SortedPlace): string {
  return Buffer.from(`s${value}.${id}`).toString('base64url');
}

/** @throws AppError VALIDATION_FAILED */
export function placeOfCursor(cursor: string): SortedPlace {
  const [, value, id] = /^s(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = { value: Number(value), id: Number(id) };
  if (Number.isSafeInteger(place.value) && Number.isSafeInteger(place.id)) return place;
  throw fieldError('cursor', 'must be the next_cursor of an answer');
}
