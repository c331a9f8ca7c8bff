import { AppError } from '@gatehouse/platform';
import type { ErrorDetail } from '@gatehouse/platform';
import type { EntityManager } from 'typeorm';

/** The most references named in an answer; further ones are only counted. */
const SHOWN = 20;

interface RuleRow {
  id: number;
  source: string;
  type: string;
  payload: string;
}

/** @throws AppError IN_USE naming the rules, the groups and the default policy that refer to the group. */
export async function refuseWhileInUse(tx: EntityManager, name: string): Promise<void> {
  const rules: RuleRow[] = await tx.query(
    'SELECT id, source, type, payload FROM rules WHERE target = $1 ORDER BY priority, id',
    [name],
  );
  const groups: { name: string }[] = await tx.query(
    'SELECT name FROM outbound_groups WHERE members ? $1 AND name <> $1 ORDER BY position, id',
    [name],
  );
  const policy: unknown[] = await tx.query('SELECT id FROM outbound_policy WHERE default_policy = $1', [name]);
  const details: ErrorDetail[] = [
    ...policy.map(() => ({ field: 'default_policy', message: 'is this group' })),
    ...groups.map((group) => ({ field: 'groups', message: `${group.name} has it as a member` })),
    ...rules.map(({ id, type, payload }) => ({
      field: 'rules',
      message: `rule ${id} (${type},${payload}) leads to it`,
    })),
  ];
  if (details.length === 0) return;
  const parts = [
    ...(policy.length > 0 ? ['the default policy'] : []),
    ...(groups.length > 0 ? [`${groups.length} groups`] : []),
    ...(rules.length > 0 ? [`${rules.length} rules`] : []),
  ];
  throw new AppError('IN_USE', `${JSON.stringify(name)} is in use by ${parts.join(', ')}.`, {
    details: details.slice(0, SHOWN),
  });
}

/** Replaces the name of a group wherever it is referred to. */
export async function renameReferences(tx: EntityManager, from: string, to: string): Promise<void> {
  await tx.query('UPDATE rules SET target = $2 WHERE target = $1', [from, to]);
  await tx.query('UPDATE outbound_policy SET default_policy = $2 WHERE default_policy = $1', [from, to]);
  await tx.query('UPDATE outbound_groups SET selected_tag = $2, selected_name = $2 WHERE selected_tag = $1', [
    from,
    to,
  ]);
  await tx.query(
    `UPDATE outbound_groups SET members = (
       SELECT jsonb_agg(CASE WHEN member = $1 THEN $2 ELSE member END ORDER BY place)
       FROM jsonb_array_elements_text(members) WITH ORDINALITY AS listed (member, place)
     ) WHERE members ? $1`,
    [from, to],
  );
}
