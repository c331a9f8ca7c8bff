/** Any number that nothing else in the schema locks. */
const GROUPS_LOCK = 7_320_001;

/** One change of several groups at a time, over all processes; held until the transaction ends. */
export async function lockGroups(tx: { query(sql: string, parameters?: unknown[]): Promise<unknown> }): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [GROUPS_LOCK]);
}
