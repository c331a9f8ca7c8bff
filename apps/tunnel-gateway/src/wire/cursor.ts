import { fieldError } from './field-error.js';

/** Where a page of a sorted list ended. */
export interface Place {
  /** What the list is sorted by. */
  sort: string;
  /** Of the last row, as the database writes it. */
  value: string;
  /** Of the last row. */
  id: number;
}

/** Longest cursor there can be: of a name of 255 characters outside the plain ones. */
export const MAX_CURSOR = 2_048;
/** What a PostgreSQL bigint holds, and a little less. */
const INTEGER = /^-?\d{1,18}$/;

/** Says where the next page begins, in words that only this service reads. */
export function cursorAfter({ sort, value, id }: Place): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url');
}

/** Null: at the beginning. @throws AppError VALIDATION_FAILED, also for a cursor of another order. */
export function placeOfCursor(cursor: string | undefined, sort: string, kind: 'text' | 'integer'): Place | null {
  if (cursor === undefined) return null;
  const [said, value, id] = readList(cursor);
  const isValue = typeof value === 'string' && (kind === 'text' ? !value.includes('\0') : INTEGER.test(value));
  if (said === sort && isValue && typeof id === 'number' && Number.isSafeInteger(id)) return { sort, value, id };
  throw fieldError('cursor', 'must be the next_cursor of an answer with the same sort');
}

function readList(cursor: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(list) ? list : [];
  } catch {
    // What is no JSON is no cursor either; the caller says so.
    return [];
  }
}
