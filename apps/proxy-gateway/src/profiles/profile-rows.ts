import type { EntityManager } from 'typeorm';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import type { NameFilter } from '@gatehouse/subscription-formats';
import type { PlannedGroup } from './plan-groups.js';

/** Behind the groups that people create, before those of countries. */
const FIRST_POSITION = 100_000;
const POSITIONS = 1_000;
const PROFILES = 800;
const EVERY_NODE: NameFilter = { include: [], exclude: [], excludeTypes: [], readable: true };

/** The subscription of a provider, with the provider's own filter. */
export interface ProviderRow {
  subscriptionId: number;
  filter: NameFilter;
}

/**
 * Replaces the groups of a profile. A group that stays keeps its row, and with it the choice of its user, its history
 * and its totals.
 */
export async function replaceGroups(
  tx: EntityManager,
  subscriptionId: number,
  groups: readonly PlannedGroup[],
  providers: ReadonlyMap<string, ProviderRow>,
): Promise<void> {
  const present = await tx.find(OutboundGroupEntity, {
    where: { subscriptionId },
    lock: { mode: 'pessimistic_write' },
  });
  const byName = new Map(present.map((row) => [row.profileName, row]));
  const names = new Set(groups.map(({ name }) => name));
  const gone = present.filter(({ profileName }) => profileName === null || !names.has(profileName));
  if (gone.length > 0)
    await tx.delete(
      OutboundGroupEntity,
      gone.map(({ id }) => id),
    );
  const base = FIRST_POSITION + (subscriptionId % PROFILES) * POSITIONS;
  const rows = groups.map((group, index) => {
    const row = byName.get(group.name) ?? tx.create(OutboundGroupEntity, { subscriptionId, profileName: group.name });
    const position = base + Math.min(index, POSITIONS - 1);
    return Object.assign(row, columnsOf(group, subscriptionId, providers), { position });
  });
  // A group that spreads connections has no choice.
  for (const row of rows)
    if (row.type === 'load-balance') Object.assign(row, { selectedTag: null, selectedName: null });
  await tx.save(rows, { chunk: 100 });
}

function columnsOf(
  { name: _name, storedAs, intake, remarks: _remarks, ...columns }: PlannedGroup,
  subscriptionId: number,
  providers: ReadonlyMap<string, ProviderRow>,
): Partial<OutboundGroupEntity> {
  const own = intake?.own === true ? [{ subscriptionId, filter: EVERY_NODE, byName: true }] : [];
  const sources = [...own, ...(intake?.providers ?? []).flatMap((provider) => providers.get(provider) ?? [])];
  if (intake === null) return { ...columns, name: storedAs, intake };
  const { filter, asListed } = intake;
  return { ...columns, name: storedAs, intake: { sources, filter, ...(asListed && { asListed }) } };
}
