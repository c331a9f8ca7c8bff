import type { SqlRunner } from '../traffic/log-partitions.js';
import type { ExistingRule, ImportPlan, PlannedRule } from './transfer/plan-import.js';

/** Rows per statement: enough to amortise it, few enough to keep its arrays small. */
const ROWS_PER_STATEMENT = 10_000;

const COLUMNS = 'type, payload, target, no_resolve, src, enabled, note, priority, after_profile';
const ARRAYS = `$1::text[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::boolean[], $7::text[], $8::bigint[], $9::boolean[]`;

/** Selects the rules by their source. */
export interface RuleOwner {
  source: 'manual' | 'subscription';
  subscriptionId: number | null;
}

export const MANUAL: RuleOwner = { source: 'manual', subscriptionId: null };

/** In order, without the columns that only lists need. */
export async function readRules(sql: SqlRunner, { source, subscriptionId }: RuleOwner): Promise<ExistingRule[]> {
  return (await sql.query(
    `SELECT id, type, payload, target, no_resolve AS "noResolve", src, enabled, note, priority,
       after_profile AS "afterProfile"
     FROM rules WHERE source = $1 AND subscription_id IS NOT DISTINCT FROM $2 ORDER BY priority, id`,
    [source, subscriptionId],
  )) as ExistingRule[];
}

export async function movePriorities(
  sql: SqlRunner,
  moved: readonly { id: number; priority: number }[],
): Promise<void> {
  for (const rows of slices(moved)) {
    await sql.query(
      `UPDATE rules SET priority = fresh.priority FROM unnest($1::bigint[], $2::bigint[]) AS fresh (id, priority)
       WHERE rules.id = fresh.id`,
      [pick(rows, 'id'), pick(rows, 'priority')],
    );
  }
}

/** Carries out a plan and sets the new ids in its items. */
export async function writePlan(sql: SqlRunner, owner: RuleOwner, plan: ImportPlan): Promise<void> {
  // Locks in the same order as the accounting, so that neither can deadlock the other.
  await sql.query('SELECT FROM rules WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE', [
    [...plan.remove, ...pick(plan.update, 'id')],
  ]);
  if (plan.remove.length > 0) await sql.query('DELETE FROM rules WHERE id = ANY ($1::bigint[])', [plan.remove]);
  for (const rows of slices(plan.update)) {
    await sql.query(
      `UPDATE rules SET enabled = fresh.enabled, note = fresh.note, priority = fresh.priority,
         after_profile = fresh.after_profile, updated_at = now()
       FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::bigint[], $5::boolean[])
         AS fresh (id, enabled, note, priority, after_profile)
       WHERE rules.id = fresh.id`,
      [pick(rows, 'id'), pick(rows, 'enabled'), pick(rows, 'note'), pick(rows, 'priority'), places(rows)],
    );
  }
  const ids = await insertRules(sql, owner, plan.create);
  for (const [index, items] of plan.createdItems.entries()) {
    for (const item of items) item.id = ids[index] ?? null;
  }
}

/** @returns the ids, in the order of the rules. */
async function insertRules(sql: SqlRunner, owner: RuleOwner, rules: readonly PlannedRule[]): Promise<number[]> {
  const ids: number[] = [];
  for (const rows of slices(rules)) {
    // Identities are assigned in the order of the sorted input, so sorting them restores that order.
    const inserted = (await sql.query(
      `INSERT INTO rules (source, subscription_id, ${COLUMNS})
       SELECT $10, $11::bigint, ${COLUMNS} FROM unnest(${ARRAYS}) WITH ORDINALITY AS fresh (${COLUMNS}, position)
       ORDER BY position RETURNING id`,
      [...columnArrays(rows), owner.source, owner.subscriptionId],
    )) as { id: number }[];
    ids.push(...inserted.map(({ id }) => id).sort((a, b) => a - b));
  }
  return ids;
}

function columnArrays(rows: readonly PlannedRule[]): unknown[][] {
  const columns = ['type', 'payload', 'target', 'noResolve', 'src', 'enabled', 'note', 'priority'] as const;
  return [...columns.map((column) => pick(rows, column)), places(rows)];
}

function places(rows: readonly PlannedRule[]): boolean[] {
  return rows.map(({ afterProfile = false }) => afterProfile);
}

function pick<T, K extends keyof T>(rows: readonly T[], column: K): T[K][] {
  return rows.map((row) => row[column]);
}

function* slices<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    yield rows.slice(start, start + ROWS_PER_STATEMENT);
}
