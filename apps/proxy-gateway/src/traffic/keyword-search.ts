import type { EntityManager } from 'typeorm';
import { likePattern } from '../wire/like-pattern.js';
import { filterHolds, gramsOfKeyword } from './search-grams.js';

/** Identifies a log row. */
export interface RowKey {
  endedAt: number;
  id: number;
}

/** A span of time, both ends included, whose rows may match, with their approximate number. */
interface Stretch {
  from: number;
  to: number;
  rows: number;
}

/** Matches are counted up to this number; nobody pages further by number. */
export const COUNT_LIMIT = 10_000;
/** The most rows that a count reads. */
const COUNT_ROWS = 100_000;
/** Sections checked by the first statement; each further one checks four times as many. */
const FIRST_SECTIONS = 250;
const MOST_SECTIONS = 16_000;
/** Rows read by the first statement of a search; each further one may read four times as many. */
const FIRST_ROWS = 4_000;
const MOST_ROWS = 64_000;

/** The search would take longer than allowed. */
export class SearchTimeoutError extends Error {
  override readonly name = 'SearchTimeoutError';
}

/** Searches the log for a text, newest first, reading only sections that may contain all of its grams. */
export class KeywordSearch {
  readonly #tx: EntityManager;
  readonly #pattern: string;
  readonly #sectionsSql: string;
  readonly #endsAt: number;
  readonly #stretches: Stretch[] = [];
  /** Sections checked so far. */
  #asked = 0;
  #allAsked = false;
  /** The newest stretches whose matches `find` has all seen, and the number of those matches. */
  #seen = { stretches: 0, matches: 0 };
  /** Start of the time covered by the stretches so far. */
  #lowest = Infinity;

  /**
   * @param keyword lower case, not empty
   * @param timeoutMs for all statements together; a running one is not interrupted
   */
  constructor(tx: EntityManager, keyword: string, timeoutMs: number) {
    this.#tx = tx;
    this.#endsAt = performance.now() + timeoutMs;
    this.#pattern = likePattern(keyword);
    this.#sectionsSql = sectionsSql(gramsOfKeyword(keyword));
  }

  /** Keys of at most `count` matching rows behind `before`. @throws SearchTimeoutError */
  async find(before: RowKey | null, count: number): Promise<RowKey[]> {
    const found: RowKey[] = [];
    for (let next = 0, rows = FIRST_ROWS; found.length < count; rows = Math.min(rows * 4, MOST_ROWS)) {
      const { lot, end } = await this.#lot(next, rows);
      if (end === next) break;
      if (performance.now() >= this.#endsAt) throw new SearchTimeoutError('The rows that may match are too many');
      const wanted = clipped(lot, before);
      const missing = count - found.length;
      const more = wanted.length === 0 ? [] : await this.#findIn(wanted, before, missing);
      found.push(...more);
      if (before === null && more.length < missing) this.#seen = { stretches: end, matches: found.length };
      next = end;
    }
    return found;
  }

  /** The number of matching rows in the newest part of the log; `all` if that part contains all matches. */
  async count(): Promise<{ rows: number; all: boolean }> {
    const { stretches, matches } = this.#seen;
    const read = this.#stretches.slice(0, stretches).reduce((sum, stretch) => sum + stretch.rows, 0);
    const { lot, end } = await this.#lot(stretches, COUNT_ROWS - read);
    const rows = matches + (lot.length === 0 ? 0 : await this.#countIn(lot));
    const isAll = this.#allAsked && end === this.#stretches.length && rows <= COUNT_LIMIT;
    return { rows: Math.min(rows, COUNT_LIMIT), all: isAll };
  }

  async #countIn(lot: readonly Stretch[]): Promise<number> {
    const [row]: { rows: number }[] = await this.#tx.query(COUNT_SQL, [...bounds(lot), this.#pattern]);
    return row?.rows ?? 0;
  }

  /** Stretches from a position on, with about `rows` rows together; empty if there are no more. */
  async #lot(start: number, rows: number): Promise<{ lot: Stretch[]; end: number }> {
    let end = start;
    for (let sum = 0; sum < rows; end++) {
      while (end === this.#stretches.length && !this.#allAsked) await this.#askSections();
      const stretch = this.#stretches[end];
      if (stretch === undefined) break;
      sum += stretch.rows;
    }
    return { lot: this.#stretches.slice(start, end), end };
  }

  /** Sections may share instants, but stretches do not, so that no row is found twice. */
  async #askSections(): Promise<void> {
    const limit = Math.min(Math.max(FIRST_SECTIONS, this.#asked * 4), MOST_SECTIONS);
    const sections: Section[] = await this.#tx.query(this.#sectionsSql, [limit, this.#asked]);
    this.#asked += limit;
    this.#allAsked = sections.length === 0 || (sections[0]?.asked ?? 0) < limit;
    for (const { first, last, rows } of sections) {
      if (first === null || last === null) continue;
      const to = Math.min(last, this.#lowest - 1);
      if (first > to) continue;
      this.#stretches.push({ from: first, to, rows });
      this.#lowest = first;
    }
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
}

/** Null if there is nothing to search for. */
export function searchedText(keyword: string | undefined): string | null {
  const text = (keyword ?? '').trim().toLowerCase().toWellFormed();
  return text === '' ? null : text;
}

/** A section that may match; the times are null if none of the checked ones does. */
interface Section {
  first: number | null;
  last: number | null;
  rows: number;
  /** How many sections were checked. */
  asked: number;
}

/** Selects the newest sections before checking them, because their filters are long and stored out of line. */
function sectionsSql(bits: readonly number[]): string {
  return `WITH newest AS MATERIALIZED (
      SELECT first_at, last_at, row_count, grams FROM traffic_log_sections ORDER BY last_at DESC, id LIMIT $1 OFFSET $2)
    SELECT (extract(epoch FROM first_at) * 1000)::bigint AS first, (extract(epoch FROM last_at) * 1000)::bigint AS last,
      row_count AS rows, (SELECT count(*)::integer FROM newest) AS asked
    FROM (SELECT 1) one LEFT JOIN newest ON grams IS NULL OR (${filterHolds('grams', bits)})
    ORDER BY last_at DESC`;
}

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

function clipped(stretches: readonly Stretch[], before: RowKey | null): Stretch[] {
  if (before === null) return [...stretches];
  return stretches
    .filter(({ from }) => from <= before.endedAt)
    .map((stretch) => ({ ...stretch, to: Math.min(stretch.to, before.endedAt) }));
}
