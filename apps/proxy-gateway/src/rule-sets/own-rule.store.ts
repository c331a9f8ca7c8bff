import type { SqlRunner } from '../traffic/log-partitions.js';
import { PRIORITY_STEP } from '../rules/rule-order.js';
import { setsNamedBy } from '../kernel-config/set-states.js';

/** The rule that a set with a target has of its own. */
export interface OwnRule {
  id: number;
  ruleSetId: number;
  target: string;
  noResolve: boolean;
  priority: number;
}

/** The desired rule of a set; a null target: no rule. */
export interface WantedRule {
  ruleSetId: number;
  name: string;
  enabled: boolean;
  target: string | null;
  noResolve: boolean;
  /** Null: keep its place; a new rule goes last. */
  priority: number | null;
}

const COLUMNS = 'id, rule_set_id AS "ruleSetId", target, no_resolve AS "noResolve", priority';

export async function readOwnRules(sql: SqlRunner, ruleSetIds: readonly number[]): Promise<Map<number, OwnRule>> {
  const rows = (await sql.query(`SELECT ${COLUMNS} FROM rules WHERE rule_set_id = ANY ($1::bigint[])`, [
    ruleSetIds,
  ])) as OwnRule[];
  return new Map(rows.map((row) => [row.ruleSetId, row]));
}

/** Updates the rule in place, so that it keeps its hits. Call while holding the lock of the rules. */
export async function writeOwnRule(sql: SqlRunner, wanted: WantedRule): Promise<void> {
  const { ruleSetId, name, enabled, target, noResolve, priority } = wanted;
  if (target === null) {
    await sql.query('DELETE FROM rules WHERE rule_set_id = $1', [ruleSetId]);
    return;
  }
  const updated = (await sql.query('SELECT id FROM rules WHERE rule_set_id = $1', [ruleSetId])) as unknown[];
  const values = [ruleSetId, name, enabled, target, noResolve, priority];
  if (updated.length > 0) {
    await sql.query(
      `UPDATE rules SET payload = $2, enabled = $3, target = $4, no_resolve = $5, priority = coalesce($6, priority),
         updated_at = now()
       WHERE rule_set_id = $1`,
      values,
    );
    return;
  }
  await sql.query(
    `INSERT INTO rules (source, type, rule_set_id, payload, enabled, target, no_resolve, priority)
     SELECT 'ruleset', 'RULE-SET', $1, $2, $3, $4, $5,
       coalesce($6, (SELECT max(priority) FROM rules WHERE source = 'ruleset') + $7, $7)`,
    [...values, PRIORITY_STEP],
  );
}

/** Ids of the rules that name a set, except its own rule. */
export async function rulesNaming(sql: SqlRunner, name: string, ruleSetId: number): Promise<number[]> {
  const rows = (await sql.query(
    `SELECT id, type, payload FROM rules
     WHERE rule_set_id IS DISTINCT FROM $2
       AND ((type = 'RULE-SET' AND payload = $1) OR (type IN ('AND', 'OR', 'NOT') AND payload ~* 'RULE-SET'))
     ORDER BY id`,
    [name, ruleSetId],
  )) as { id: number; type: string; payload: string }[];
  return rows.filter((rule) => setsNamedBy(rule).includes(name)).map(({ id }) => id);
}
