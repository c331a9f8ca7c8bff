/** A place in a list that goes on by cursors: where it is, and the way back. */
export interface CursorPage {
  limit: number;
  /** Null: the newest. */
  cursor: string | null;
  before: readonly (string | null)[];
}

export const FIRST_CURSOR: CursorPage = { limit: 50, cursor: null, before: [] };

export function nextPage(page: CursorPage, cursor: string): CursorPage {
  return { ...page, cursor, before: [...page.before, page.cursor] };
}

export function previousPage(page: CursorPage): CursorPage {
  return { ...page, cursor: page.before.at(-1) ?? null, before: page.before.slice(0, -1) };
}
