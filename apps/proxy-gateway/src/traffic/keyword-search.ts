import type { EntityManager } from 'typeorm';
import { filterHolds, gramsOfKeyword } from './search-grams.js';

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
/** Sections asked at first whether they can match; each further statement asks four times as many. */
const FIRST_SECTIONS = 250;
const MOST_SECTIONS = 16_000;
/** Rows read by the first statement of a search; each further one may read four times as many. */
const FIRST_ROWS = 4_000;
const MOST_ROWS = 64_000;

/** A search would take longer than it may. */
export class SearchTimeoutError extends Error {
  override readonly name = 'SearchTimeoutError';
}

/** Searches the log for a text, newest first, reading only sections in which all of its pieces may occur. */
export class KeywordSearch {
  readonly #tx: EntityManager;
  readonly #pattern: string;
  readonly #sectionsSql: string;
  readonly #endsAt: number;
  readonly #stretches: Stretch[] = [];
  /** Sections asked so far. */
  #asked = 0;
  #allAsked = false;
  /** Stretches from the newest on whose matches `find` has seen all of, and how many those are. */
  #seen = { stretches: 0, matches: 0 };
  /** Start of what the stretches so far cover. */
  #lowest = Infinity;

  /**
   * @param keyword lower case, not empty
   * @param timeoutMs of all statements together; one that runs then is not interrupted
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

  /** Matching rows in the newest part of the log; `all` when that is where all of them are. */
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

  /** Stretches from a place on, of about `rows` rows together; none when there are no more. */
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

  /** Sections may share instants; stretches do not, so that no row is found twice. */
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

/** Null when there is nothing to look for. */
export function searchedText(keyword: string | undefined): string | null {
  const text = (keyword ?? '').trim().toLowerCase().toWellFormed();
  return text === '' ? null : text;
}

/** `%` and `_` stand for themselves. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** A section that may match; times are null where none of those asked does. */
interface Section {
  first: number | null;
  last: number | null;
  rows: number;
  /** How many were asked. */
  asked: number;
}

/** Takes the newest sections first and asks only then: what they say is long and stored apart. */
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
