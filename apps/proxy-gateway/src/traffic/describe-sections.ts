import type { UnitOfWork } from '@gatehouse/persistence';
import type { EntityManager } from 'typeorm';
import { planSections, SECTION_ROWS, writeSections } from './log-sections.js';
import type { Section } from './log-sections.js';

/** The most rows that one sweep reads, so that it ends in time; the next one continues. */
const ROWS_A_SWEEP = 1_000_000;

interface OpenSection {
  id: string;
  first_at: Date;
  last_at: Date;
  row_count: number;
}

/**
 * Describes sections without grams: those that a writer left open when it ended, and those of rows from before there
 * were sections. It reads their rows and replaces them with sections of the usual size. It may also describe a section
 * that a writer is still filling; the writer takes it back with its next row.
 * @returns the number of rows read.
 */
export async function describeSections(unitOfWork: UnitOfWork): Promise<number> {
  const open: OpenSection[] = await unitOfWork.run((tx) =>
    tx.query('SELECT id, first_at, last_at, row_count FROM traffic_log_sections WHERE grams IS NULL'),
  );
  let read = 0;
  for (const section of open) {
    for (let rest: OpenSection | null = section; rest !== null && read < ROWS_A_SWEEP; read += SECTION_ROWS) {
      const now: OpenSection = rest;
      rest = await unitOfWork.run((tx) => describeStart(tx, now));
    }
  }
  return read;
}

/**
 * Describes the oldest rows of a section in a section of their own. Returns the remaining section, or null if there is
 * none.
 */
async function describeStart(tx: EntityManager, section: OpenSection): Promise<OpenSection | null> {
  const rows: { ended_at: Date; search_text: string }[] = await tx.query(
    `SELECT ended_at, search_text FROM traffic_logs WHERE ended_at >= $1 AND ended_at <= $2
     ORDER BY ended_at, id LIMIT ${SECTION_ROWS}`,
    [section.first_at, section.last_at],
  );
  const { full, open } = planSections(
    null,
    rows.map((row) => ({ endedAt: row.ended_at.getTime(), searchText: row.search_text })),
  );
  const described: Section[] = open === null ? full : [...full, open];
  const lastAt = rows.at(-1)?.ended_at;
  const rest = rows.length < SECTION_ROWS || lastAt === undefined ? null : { ...section, first_at: lastAt };
  // More rows at one instant than fit in a section: it stays as it is, and every search reads it.
  if (rest !== null && rest.first_at.getTime() === rows[0]?.ended_at.getTime()) return null;
  if (!(await replaceStart(tx, section, rest))) return null;
  await writeSections(tx, { full: described, open: null });
  return rest;
}

/** @returns false if the section's writer has changed it meanwhile. */
async function replaceStart(tx: EntityManager, seen: OpenSection, rest: OpenSection | null): Promise<boolean> {
  const found: unknown[] = await tx.query(
    `SELECT id FROM traffic_log_sections
     WHERE id = $1 AND last_at = $2 AND row_count = $3 AND grams IS NULL FOR UPDATE`,
    [seen.id, seen.last_at, seen.row_count],
  );
  if (found.length === 0) return false;
  if (rest === null) await tx.query('DELETE FROM traffic_log_sections WHERE id = $1', [seen.id]);
  else await tx.query('UPDATE traffic_log_sections SET first_at = $2 WHERE id = $1', [seen.id, rest.first_at]);
  return true;
}
