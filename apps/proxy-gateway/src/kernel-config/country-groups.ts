import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { KernelConfigRows } from './kernel-config.mapper.js';
import { countryName } from '../data/country-names.js';
import { Preferences } from '../preferences/preferences.service.js';
import { lockGroups } from './lock-groups.js';

/** Behind every position that users choose. */
const POSITION = 1_000_000;

export interface CountryChanges {
  added: string[];
  removed: string[];
}

/**
 * Countries that get a group, and those that lose theirs. A group is added with the first node that may be alive and
 * removed with the last usable node: a measurement alone must not remove what rules name.
 */
export function countryChanges({ nodes, groups }: Pick<KernelConfigRows, 'nodes' | 'groups'>): CountryChanges {
  const usable = nodes.filter(({ country, unsupportedReason }) => country !== null && unsupportedReason === null);
  const present = new Set(usable.map(({ country }) => country!));
  const live = new Set(usable.filter(({ alive }) => alive !== false).map(({ country }) => country!));
  const existing = groups.flatMap(({ automatic, country }) => (automatic && country !== null ? [country] : []));
  return {
    added: [...live].filter((country) => !existing.includes(country)).sort(),
    removed: existing.filter((country) => !present.has(country)),
  };
}

/** Keeps one url-test group for each country, named by its ISO code. */
@Injectable()
export class CountryGroups {
  private readonly logger = new Logger('Outbound');
  /** Countries whose names users took for groups of their own, and that were logged. */
  private readonly logged = new Set<string>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly preferences: Preferences,
  ) {}

  /** Returns true if the groups now differ from those in `rows`. */
  async reconcile(rows: KernelConfigRows): Promise<boolean> {
    const wanted = this.preferences.get('outbound.country_groups') ? rows.nodes : [];
    const { added, removed } = countryChanges({ nodes: wanted, groups: rows.groups });
    if (added.length + removed.length === 0) return false;
    const taken = new Set(rows.groups.map(({ name }) => name));
    const named = added.flatMap((country) => this.nameOf(country, taken));
    if (named.length + removed.length === 0) return false;
    await this.unitOfWork.run(async (tx) => {
      await lockGroups(tx);
      await this.remove(tx, removed);
      await add(tx, named);
    });
    return true;
  }

  private nameOf(country: string, taken: ReadonlySet<string>): { country: string; name: string }[] {
    const name = [country, countryName(country)].find((candidate) => candidate !== null && !taken.has(candidate));
    if (name) return [{ country, name }];
    if (!this.logged.has(country)) {
      this.logger.warn(`${country} gets no automatic group: its code and its name are taken by other groups`);
    }
    this.logged.add(country);
    return [];
  }

  private async remove(tx: EntityManager, countries: readonly string[]): Promise<void> {
    // Other processes do this at the same time; the one that deleted the row reports it.
    const [gone]: [{ name: string; country: string }[], number] = await tx.query(
      'DELETE FROM outbound_groups WHERE automatic AND country = ANY ($1) RETURNING name, country',
      [countries],
    );
    for (const { name, country } of gone) {
      const [rules]: { count: number }[] = await tx.query(
        'SELECT count(*) AS count FROM rules WHERE enabled AND target = $1',
        [name],
      );
      const count = rules?.count ?? 0;
      const effect = count === 0 ? '' : `; ${count} rules that name it are skipped until it is back`;
      this.logger[count === 0 ? 'log' : 'warn'](
        `No usable node is left in ${country}: its group ${name} was removed${effect}`,
      );
    }
  }
}

async function add(tx: EntityManager, named: readonly { country: string; name: string }[]): Promise<void> {
  await tx.query(
    `INSERT INTO outbound_groups (name, type, position, members, filter, automatic, country)
     SELECT name, 'url-test', $3, '[]', jsonb_build_object('countries', jsonb_build_array(country)), true, country
     FROM unnest($1::text[], $2::text[]) AS wanted (name, country) ON CONFLICT DO NOTHING`,
    [named.map(({ name }) => name), named.map(({ country }) => country), POSITION],
  );
}
