import { randomUUID } from 'node:crypto';
import { dayOf } from './log-partitions.js';
import type { SqlRunner } from './log-partitions.js';
import { GramFilter } from './search-grams.js';

/** Rows that one section tells about: a search reads whole sections, an index entry is shared by this many rows. */
export const SECTION_ROWS = 2_000;
/** A section of very different rows is closed early: what it says would be true of any text. */
const MAX_FILL = 0.3;

/** What a search has to know of a log row. */
export interface SearchableRow {
  endedAt: number;
  /** The row's `search_text`: one field a line. */
  searchText: string;
}

/**
 * Rows of one day that ended between two times, and the pieces of text (see `search-grams`) that occur in any of them.
 * Until a section is full nothing is stored of its pieces, and every search reads it.
 */
export interface Section {
  id: string;
  day: number;
  firstAt: number;
  lastAt: number;
  rows: number;
  grams: GramFilter;
  /** Fields whose pieces are in `grams` already. */
  fields: Set<string>;
}

/** What a batch does to the sections: those it fills, and the one it leaves open. */
export interface SectionChanges {
  full: Section[];
  open: Section | null;
}

/** Puts rows into sections, oldest first. The section it is given stays as it is: a batch may be planned again. */
export function planSections(before: Section | null, rows: Iterable<SearchableRow>): SectionChanges {
  const full: Section[] = [];
  let open = before === null ? null : copy(before);
  for (const row of [...rows].sort((a, b) => a.endedAt - b.endedAt)) {
    if (open !== null && open.day !== dayOf(row.endedAt)) {
      full.push(open);
      open = null;
    }
    open ??= newSection(row.endedAt);
    add(open, row);
    if (open.rows < SECTION_ROWS && open.grams.fill < MAX_FILL) continue;
    full.push(open);
    open = null;
  }
  return { full, open };
}

function newSection(at: number): Section {
  return {
    id: randomUUID(),
    day: dayOf(at),
    firstAt: at,
    lastAt: at,
    rows: 0,
    grams: new GramFilter(),
    fields: new Set(),
  };
}

/** What is said of the text is shared: pieces too many make a search read more, never less. */
function copy(section: Section): Section {
  return { ...section };
}

function add(section: Section, { endedAt, searchText }: SearchableRow): void {
  section.firstAt = Math.min(section.firstAt, endedAt);
  section.lastAt = Math.max(section.lastAt, endedAt);
  section.rows++;
  for (const field of searchText.split('\n')) {
    if (section.fields.has(field)) continue;
    section.fields.add(field);
    section.grams.add(field);
  }
}

/** Writes the changes, in the transaction that writes the rows. */
export async function writeSections(sql: SqlRunner, { full, open }: SectionChanges): Promise<void> {
  for (const section of full) await writeSection(sql, section, section.grams.bytes);
  if (open !== null) await writeSection(sql, open, null);
}

async function writeSection(sql: SqlRunner, section: Section, grams: Buffer | null): Promise<void> {
  await sql.query(
    `INSERT INTO traffic_log_sections (id, first_at, last_at, row_count, grams) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE SET first_at = excluded.first_at, last_at = excluded.last_at,
       row_count = excluded.row_count, grams = excluded.grams`,
    [section.id, new Date(section.firstAt), new Date(section.lastAt), section.rows, grams],
  );
}
