import type { EntityManager } from 'typeorm';

/** Ids far above all others would use up the sequence. */
const MAX_AHEAD = 1_000_000;

/** Ids for new rows of a table: their own if it is free and not `kept`, else the next one. */
export async function claimIds(
  table: string,
  wanted: readonly number[],
  tx: EntityManager,
  kept: readonly number[] = [],
): Promise<Map<number, number>> {
  if (wanted.length === 0) return new Map();
  const [{ last }] = (await tx.query(`SELECT coalesce(max(id), 0)::float8 AS last FROM ${table}`)) as [
    { last: number },
  ];
  const taken = (await tx.query(`SELECT id::float8 AS id FROM ${table} WHERE id = ANY ($1::bigint[])`, [wanted])) as {
    id: number;
  }[];
  const occupied = new Set([...kept, ...taken.map(({ id }) => id)]);
  const mayStay = (id: number): boolean => !occupied.has(id) && id <= last + MAX_AHEAD;
  const highest = wanted.filter(mayStay).reduce((most, id) => Math.max(most, id), last);
  // Concurrent inserts get ids above these. Sequences are not rolled back: a failed transaction leaves a gap, as usual.
  await tx.query(
    `SELECT setval(pg_get_serial_sequence($1, 'id'), greatest($2::bigint, nextval(pg_get_serial_sequence($1, 'id'))))`,
    [table, Math.max(1, highest)],
  );
  const others = wanted.filter((id) => !mayStay(id));
  const fresh = (await tx.query(
    `SELECT nextval(pg_get_serial_sequence($1, 'id'))::float8 AS id FROM generate_series(1, $2::int)`,
    [table, others.length],
  )) as { id: number }[];
  const next = new Map(others.map((id, index) => [id, fresh[index]?.id ?? 0]));
  return new Map(wanted.map((id) => [id, next.get(id) ?? id]));
}
