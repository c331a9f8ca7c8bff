/** The number is arbitrary; nothing else in the schema locks it. */
const GROUPS_LOCK = 7_320_001;

/** Lets one transaction of all processes change several groups at a time; held until the transaction ends. */
export async function lockGroups(tx: { query(sql: string, parameters?: unknown[]): Promise<unknown> }): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [GROUPS_LOCK]);
}
