import type { SqlRunner } from '../traffic/log-partitions.js';

/** The state of a rule set that rules name. */
export interface SetState {
  /** The number of entries. */
  size: number;
  /** Why the kernel skips a rule that names it; null if it does not. */
  problem: string | null;
}

interface SetRow {
  name: string;
  enabled: boolean;
  entry_count: number;
}

/** The rule sets by name. */
export async function readSetStates(sql: SqlRunner): Promise<ReadonlyMap<string, SetState>> {
  const rows = (await sql.query('SELECT name, enabled, entry_count FROM rule_sets')) as SetRow[];
  return new Map(rows.map((row) => [row.name, { size: row.entry_count, problem: problemOf(row) }]));
}

function problemOf({ name, enabled, entry_count: entries }: SetRow): string | null {
  if (!enabled) return `rule set ${name} is disabled`;
  return entries === 0 ? `rule set ${name} has no entries yet` : null;
}

interface Condition {
  type: string;
  payload: string;
}

/** The sets and lists that conditions can name. */
export interface NamedSets {
  sets: ReadonlyMap<string, SetState>;
  /** The entries of a list of sites; null if there is no such list. */
  site: (code: string) => readonly string[] | null;
}

const LOGIC = /^(AND|OR|NOT)$/;
const NAMED = /\(\s*(RULE-SET|GEOSITE)\s*,\s*([^,()]+?)\s*[,)]/gi;

/** Whether a rule depends on the content of a set. */
export function namesSets({ type }: Condition): boolean {
  return type === 'RULE-SET' || type === 'GEOSITE' || LOGIC.test(type);
}

/** The names of the rule sets that a rule needs, including those inside AND, OR and NOT. */
export function setsNamedBy(rule: Condition): string[] {
  return namedBy(rule, 'RULE-SET');
}

function namedBy({ type, payload }: Condition, kind: 'RULE-SET' | 'GEOSITE'): string[] {
  if (type === kind) return [payload];
  if (!LOGIC.test(type)) return [];
  return [...payload.matchAll(NAMED)].flatMap(([, word = '', name = '']) =>
    word.toUpperCase() === kind ? [name] : [],
  );
}

/** What is wrong with the sets of a rule; null if nothing is. */
export function setProblem(rule: Condition, { sets, site }: NamedSets): string | null {
  for (const name of namedBy(rule, 'RULE-SET')) {
    const state = sets.get(name);
    if (state === undefined) return `rule set ${name} does not exist`;
    if (state.problem !== null) return state.problem;
  }
  for (const code of namedBy(rule, 'GEOSITE')) {
    if (site(code.toLowerCase()) === null) return `there is no list of sites ${code}`;
  }
  return null;
}

/** The number of entries behind RULE-SET and GEOSITE; -1 for conditions without entries. */
export function sizeOf({ type, payload }: Condition, { sets, site }: NamedSets): number {
  if (type === 'RULE-SET') return sets.get(payload)?.size ?? -1;
  return type === 'GEOSITE' ? (site(payload.toLowerCase())?.length ?? -1) : -1;
}
