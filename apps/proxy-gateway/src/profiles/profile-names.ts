import type { EntityManager } from 'typeorm';
import type { NameSpace } from './names-apart.js';

interface NameRow {
  name: string;
  profile_name: string | null;
  subscription_id: number | null;
}

/** The names of groups, or of rule sets, that are taken outside a profile, and those that its own have. */
export async function readNameSpace(
  tx: EntityManager,
  table: 'outbound_groups' | 'rule_sets',
  { id, name: label }: { id: number; name: string },
): Promise<NameSpace> {
  const rows: NameRow[] = await tx.query(`SELECT name, profile_name, subscription_id FROM ${table}`);
  const mine = rows.filter((row) => row.subscription_id === id);
  return {
    label,
    taken: new Set(rows.filter((row) => row.subscription_id !== id).map(({ name }) => name)),
    stored: new Map(mine.map(({ profile_name: profileName, name }) => [profileName ?? name, name])),
  };
}
