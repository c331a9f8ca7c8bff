import { SYSTEM_ACTOR } from '@gatehouse/auth';
import { HealthRegistry, JsonLogger } from '@gatehouse/platform';
import type { ListLookup } from '@gatehouse/tunnel-kernel';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AddressLists } from '../common/address-lists.js';
import type { AddressListRow } from '../common/config-rows.js';
import type { IpRule } from '../data/ip-rule.entity.js';
import { OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { TunnelGatewaySettings } from '../settings.js';
import { fieldError } from '../wire/field-error.js';

const LISTS = 'tunnel_gateway_ops.address_lists';
const DIGESTS = `SELECT name, coalesce(md5(content), '') AS digest FROM ${LISTS} WHERE name = ANY ($1)`;
const CONTENTS = `
  SELECT id, name, content, coalesce(md5(content), '') AS digest FROM ${LISTS} WHERE name = ANY ($1)`;
/** Whoever deletes the list waits, and then finds the rule. */
const KEEP = `SELECT FROM ${LISTS} WHERE name = $1 FOR SHARE`;
const MISSING = `row.pattern_kind = 'list' AND NOT EXISTS (
  SELECT FROM ${LISTS} l WHERE l.name = row.pattern AND l.content IS NOT NULL)`;
/** Rules whose lists a warning names. */
const SHOWN = 100;

interface KnownList extends AddressListRow {
  digest: string;
}

/** Lists of addresses that rules name, as the edge has them: for rules of the console, and for explanations. */
@Injectable()
export class RuleLists implements OnModuleInit {
  readonly lookup: ListLookup;
  private readonly lists: AddressLists;
  private readonly strict: boolean;
  private known = new Map<string, KnownList>();

  constructor(
    settings: TunnelGatewaySettings,
    logger: JsonLogger,
    private readonly owned: OwnedRows,
    private readonly health: HealthRegistry,
  ) {
    this.strict = settings.geoStrict;
    this.lists = new AddressLists((problem) => logger.warn(problem, 'RuleLists'));
    this.lookup = this.lists.lookup;
  }

  onModuleInit(): void {
    this.health.register('address_lists', () => this.check());
  }

  /** Reads the lists that rules name, unless they are known and have not changed. */
  async load(
    rules: readonly Pick<IpRule, 'patternKind' | 'pattern'>[],
    manager: EntityManager = this.owned.options,
  ): Promise<void> {
    const named = rules.filter(({ patternKind }) => patternKind === 'list').map(({ pattern }) => pattern);
    if (named.length === 0) return;
    const digests: { name: string; digest: string }[] = await manager.query(DIGESTS, [
      [...named, ...this.known.keys()],
    ]);
    const stale = digests.filter(({ name, digest }) => this.known.get(name)?.digest !== digest);
    const read: KnownList[] = stale.length === 0 ? [] : await manager.query(CONTENTS, [stale.map(({ name }) => name)]);
    const fresh = new Map(read.map((list) => [list.name, list]));
    const current = digests.flatMap(({ name }) => fresh.get(name) ?? this.known.get(name) ?? []);
    this.known = new Map(current.map((list) => [list.name, list]));
    this.lists.apply(current);
  }

  /** Keeps the list of a rule that is written until the transaction ends. @throws AppError VALIDATION_FAILED */
  async keep({ patternKind, pattern }: IpRule, tx: EntityManager, field = 'pattern'): Promise<void> {
    if (patternKind !== 'list') return;
    const found: unknown[] = await tx.query(KEEP, [pattern]);
    if (found.length === 0) throw fieldError(field, `there is no list ${pattern}`);
  }

  /** What a rule does while its list was never loaded; null: it was. */
  async warningFor(pattern: string): Promise<string | null> {
    const missing = await this.missing({ sql: 'row.pattern = :pattern', parameters: { pattern } });
    return missing.length === 0 ? null : this.warning(pattern);
  }

  /** Of all rules; null: their lists are loaded. */
  async warningForAll(): Promise<string | null> {
    const missing = await this.missing();
    return missing.length === 0 ? null : this.warning(missing.join(', '));
  }

  private warning(names: string): string {
    const effect = this.strict
      ? 'a rule that denies its addresses denies everybody'
      : 'rules about its addresses match nothing';
    return `a list of addresses was never loaded (${names}): ${effect}`;
  }

  private async missing(...conditions: Condition[]): Promise<string[]> {
    const rules = this.owned.ipRules(SYSTEM_ACTOR);
    const { items } = await rules.page({ limit: SHOWN }, [{ sql: MISSING }, ...conditions]);
    return [...new Set(items.map(({ pattern }) => pattern))];
  }

  private async check(): Promise<void> {
    // Another check reports failures of PostgreSQL.
    const warning = await this.warningForAll().catch(() => null);
    if (warning !== null) throw new Error(warning);
  }
}
