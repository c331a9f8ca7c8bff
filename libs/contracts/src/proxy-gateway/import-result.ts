export const IMPORT_MODES = ['append', 'replace'] as const;
/** `replace` removes everything that the import does not mention. */
export type ImportMode = (typeof IMPORT_MODES)[number];

export type ImportAction = 'created' | 'updated' | 'unchanged' | 'duplicate' | 'removed';

/** The result for one entry. */
export interface ImportItem {
  /** Null for an entry that a dry run would create. */
  id: number | null;
  name: string;
  action: ImportAction;
}

/** A rejected entry. */
export interface ImportError {
  /** Position among the entries, from 0. */
  index: number;
  /** Line of the text, from 1; null for an array. */
  line: number | null;
  code: string;
  message: string;
  /** The original entry without credentials, at most 200 characters. */
  input: string;
}

/** `POST /rules/import` and `POST /proxies/import`. `parsed + skipped = total`. */
export interface ImportResult {
  mode: ImportMode;
  dry_run: boolean;
  format_detected: string;
  /** Lines of the text, or entries of the array. */
  total: number;
  /** `created + updated + unchanged + duplicates`. */
  parsed: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Entries that repeat an earlier one of the same import. */
  duplicates: number;
  /** With `replace`: the number of removed entries. */
  removed: number;
  /** Everything else: comments, empty lines, and rejected entries. */
  skipped: number;
  /** How many of `skipped` were rejected; all of them are in `errors`. */
  failed: number;
  items: ImportItem[];
  errors: ImportError[];
}
