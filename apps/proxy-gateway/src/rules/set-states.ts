import type { SqlRunner } from '../traffic/log-partitions.js';

/** What rules say of a rule set that they name. */
export interface SetState {
  /** Entries in it; null where that is not known. */
  size: number | null;
  /** Why the kernel skips a rule that names it; null where it does not. */
  problem: string | null;
}

interface SetRow {
  name: string;
  enabled: boolean;
  entry_count: number;
}

/** The rule sets by what they are called. */
export async function readSetStates(sql: SqlRunner): Promise<ReadonlyMap<string, SetState>> {
  const rows = (await sql.query('SELECT name, enabled, entry_count FROM rule_sets')) as SetRow[];
  return new Map(rows.map((row) => [row.name, { size: row.entry_count, problem: problemOf(row) }]));
}

function problemOf({ name, enabled, entry_count: entries }: SetRow): string | null {
  if (!enabled) return `rule set ${name} is disabled`;
  return entries === 0 ? `rule set ${name} has no entries yet` : null;
}

/** Names of the rule sets that a rule needs, those inside AND, OR and NOT included. */
export function setsNamedBy(rule: { type: string; payload: string }): string[] {
  if (rule.type === 'RULE-SET') return [rule.payload];
  if (!/^(AND|OR|NOT)$/.test(rule.type)) return [];
  return [...rule.payload.matchAll(/\(\s*RULE-SET\s*,\s*([^,()]+?)\s*[,)]/gi)].map(([, name = '']) => name);
}

/** What a rule suffers from its sets; null where nothing is wrong. */
export function setProblem(
  rule: { type: string; payload: string },
  sets: ReadonlyMap<string, SetState>,
): string | null {
  for (const name of setsNamedBy(rule)) {
    const state = sets.get(name);
    if (state === undefined) return `rule set ${name} does not exist`;
    if (state.problem !== null) return state.problem;
  }
  return null;
}
