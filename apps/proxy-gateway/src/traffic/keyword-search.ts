import type { EntityManager } from 'typeorm';
import { gramsOfKeyword } from './search-grams.js';

/** Names one log row. */
export interface RowKey {
  endedAt: number;
  id: number;
}

/** A stretch of time, ends included, whose rows may match, and about how many rows that is. */
interface Stretch {
  from: number;
  to: number;
  rows: number;
}

/** A keyword's matches are counted no further: beyond it nobody pages by number. */
export const COUNT_LIMIT = 10_000;
/** Rows that a count reads at most. */
const COUNT_ROWS = 100_000;
/** Sections that are looked at one by one; what is older is read as a whole. Sixty million rows. */
const MAX_SECTIONS = 60_000;
/** Rows read by the first statement of a search; each further one may read four times as many. */
const FIRST_ROWS = 4_000;
const MOST_ROWS = 64_000;

/** Searches the log for a text, newest first, reading only sections in which all of its pieces occur. */
export class KeywordSearch {
  readonly #tx: EntityManager;
  readonly #pattern: string;
  readonly #stretches: readonly Stretch[];

  private constructor(tx: EntityManager, pattern: string, stretches: readonly Stretch[]) {
    this.#tx = tx;
    this.#pattern = pattern;
    this.#stretches = stretches;
  }

  /** @param keyword lower case, not empty */
  static async start(tx: EntityManager, keyword: string): Promise<KeywordSearch> {
    const sections: Section[] = await tx.query(SECTIONS_SQL, [gramsOfKeyword(keyword)]);
    return new KeywordSearch(tx, likePattern(keyword), apart(sections));
  }

  /** Keys of at most `count` matching rows behind `before`. */
  async find(before: RowKey | null, count: number): Promise<RowKey[]> {
    const found: RowKey[] = [];
    let rows = FIRST_ROWS;
    for (let next = 0; next < this.#stretches.length && found.length < count; rows = Math.min(rows * 4, MOST_ROWS)) {
      const end = this.#lotEnd(next, rows);
      const lot = clipped(this.#stretches.slice(next, end), before);
      if (lot.length > 0) found.push(...(await this.#findIn(lot, before, count - found.length)));
      next = end;
    }
    return found;
  }

  /** Matching rows in the newest part of the log; `all` when that is where all of them are. */
  async count(): Promise<{ rows: number; all: boolean }> {
    const end = this.#lotEnd(0, COUNT_ROWS);
    const [row]: { rows: number }[] = await this.#tx.query(COUNT_SQL, [
      ...bounds(this.#stretches.slice(0, end)),
      this.#pattern,
    ]);
    const rows = row?.rows ?? 0;
    return { rows: Math.min(rows, COUNT_LIMIT), all: end === this.#stretches.length && rows <= COUNT_LIMIT };
  }

  async #findIn(lot: readonly Stretch[], before: RowKey | null, count: number): Promise<RowKey[]> {
    const last = before === null ? [null, null] : [new Date(before.endedAt), before.id];
    const rows: { ended_at: Date; id: number }[] = await this.#tx.query(FIND_SQL, [
      ...bounds(lot),
      this.#pattern,
      count,
      ...last,
    ]);
    return rows.map((row) => ({ endedAt: row.ended_at.getTime(), id: row.id }));
  }

  /** Where a lot of about `rows` rows ends; it has at least one stretch. */
  #lotEnd(start: number, rows: number): number {
    let end = start;
    for (let sum = 0; end < this.#stretches.length && sum < rows; end++) sum += this.#stretches[end]?.rows ?? 0;
    return end;
  }
}

/** Null when there is nothing to look for. */
export function searchedText(keyword: string | undefined): string | null {
  const text = (keyword ?? '').trim().toLowerCase().toWellFormed();
  return text === '' ? null : text;
}

/** `%` and `_` stand for themselves. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

interface Section {
  first: number;
  last: number;
  rows: number;
}

const SECTION_COLUMNS = `(extract(epoch FROM first_at) * 1000)::bigint AS first,
  (extract(epoch FROM last_at) * 1000)::bigint AS last, row_count AS rows`;

const SECTIONS_SQL = `SELECT ${SECTION_COLUMNS} FROM traffic_log_sections WHERE grams @> $1::integer[]
  UNION ALL SELECT ${SECTION_COLUMNS} FROM traffic_log_sections WHERE grams IS NULL
  ORDER BY last DESC LIMIT ${MAX_SECTIONS}`;

const IN_STRETCHES = 'FROM unnest($1::timestamptz[], $2::timestamptz[]) AS stretch (first, last) CROSS JOIN LATERAL';
const MATCHES =
  'FROM traffic_logs WHERE ended_at >= stretch.first AND ended_at <= stretch.last AND search_text LIKE $3';

const FIND_SQL = `SELECT match.ended_at, match.id ${IN_STRETCHES} (
    SELECT ended_at, id ${MATCHES} AND ($5::timestamptz IS NULL OR (ended_at, id) < ($5::timestamptz, $6::bigint))
    ORDER BY ended_at DESC, id DESC LIMIT $4) match
  ORDER BY match.ended_at DESC, match.id DESC LIMIT $4`;

const COUNT_SQL = `SELECT count(*)::integer AS rows
  FROM (SELECT 1 ${IN_STRETCHES} (SELECT 1 ${MATCHES}) match LIMIT ${COUNT_LIMIT + 1}) matches`;

function bounds(stretches: readonly Stretch[]): [Date[], Date[]] {
  return [stretches.map(({ from }) => new Date(from)), stretches.map(({ to }) => new Date(to))];
}

/** Sections may share instants; stretches do not, so that no row is found twice. Both newest first. */
function apart(sections: readonly Section[]): Stretch[] {
  const stretches: Stretch[] = [];
  let lowest = Infinity;
  for (const { first, last, rows } of sections) {
    const to = Math.min(last, lowest - 1);
    if (first > to) continue;
    stretches.push({ from: first, to, rows });
    lowest = first;
  }
  if (sections.length === MAX_SECTIONS) stretches.push({ from: 0, to: lowest - 1, rows: Infinity });
  return stretches;
}

function clipped(stretches: readonly Stretch[], before: RowKey | null): Stretch[] {
  if (before === null) return [...stretches];
  return stretches
    .filter(({ from }) => from <= before.endedAt)
    .map((stretch) => ({ ...stretch, to: Math.min(stretch.to, before.endedAt) }));
}
