export const IMPORT_MODES = ['append', 'replace'] as const;
/** `replace` makes what was imported all there is; what it does not mention goes. */
export type ImportMode = (typeof IMPORT_MODES)[number];

export type ImportAction = 'created' | 'updated' | 'unchanged' | 'duplicate' | 'removed';

/** What became of one entry. */
export interface ImportItem {
  /** Null for what a dry run would create. */
  id: number | null;
  name: string;
  action: ImportAction;
}

/** An entry that was rejected. */
export interface ImportError {
  /** Position among the entries, from 0. */
  index: number;
  /** Line of the text, from 1; null for an array. */
  line: number | null;
  code: string;
  message: string;
  /** The entry as it was given, credentials taken out, at most 200 characters. */
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
  /** Entries that an earlier one of the same import says already. */
  duplicates: number;
  /** `replace`: what was there before and is not now. */
  removed: number;
  /** Everything else: comments, empty lines, and what was rejected. */
  skipped: number;
  /** How many of `skipped` were rejected; each is in `errors`. */
  failed: number;
  items: ImportItem[];
  errors: ImportError[];
}
