import { fieldError } from './field-error.js';

/** The end of a page in a sorted list. */
export interface Place {
  /** The sort key. */
  sort: string;
  /** Value of the last row, as the database returns it. */
  value: string;
  /** Id of the last row. */
  id: number;
}

/** Upper bound for a cursor: that of a name of 255 characters outside of the BMP. */
export const MAX_CURSOR = 2_048;
/** Slightly less than a PostgreSQL bigint holds. */
const INTEGER = /^-?\d{1,18}$/;

/** The start of the next page, in a form that only this service reads. */
export function cursorAfter({ sort, value, id }: Place): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url');
}

/** Null: from the beginning. @throws AppError VALIDATION_FAILED, also for a cursor of another sort order. */
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
    // Invalid JSON is an invalid cursor; the caller reports it.
    return [];
  }
}
