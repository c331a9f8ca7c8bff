import { randomUUID } from 'node:crypto';
import { dayOf } from './log-partitions.js';
import type { SqlRunner } from './log-partitions.js';
import { GramFilter } from './search-grams.js';

/** Rows per section: a search reads whole sections, and this many rows share an index entry. */
export const SECTION_ROWS = 2_000;
/** A section of very different rows is closed early, because its filter would match any text. */
const MAX_FILL = 0.3;

/** The fields of a log row that a search needs. */
export interface SearchableRow {
  endedAt: number;
  /** The row's `search_text`: one field per line. */
  searchText: string;
}

/**
 * Rows of one day that ended between two times, and the grams (see `search-grams`) that occur in any of them. The grams
 * are stored when the section is full; until then every search reads it.
 */
export interface Section {
  id: string;
  day: number;
  firstAt: number;
  lastAt: number;
  rows: number;
  grams: GramFilter;
  /** Fields whose grams are already in `grams`. */
  fields: Set<string>;
}

/** How a batch changes the sections: those it fills, and the one it leaves open. */
export interface SectionChanges {
  full: Section[];
  open: Section | null;
}

/** Assigns rows to sections, oldest first. The given section is not changed, since a batch may be planned again. */
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

/** The filter is shared with the original: additional grams make a search read more, never less. */
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
