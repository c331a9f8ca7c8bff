import type { CursorPage } from '@gatehouse/contracts';
import { MAX_COUNT } from '@gatehouse/net';
import { AppError } from '@gatehouse/platform';
import type { DeepPartial, EntityManager, EntityTarget, SelectQueryBuilder } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm';
import { nextVersion, requireVersion, type ExpectedVersion } from '../wire/row-version.js';
import { cursorAfter, placeOfCursor } from '../wire/cursor.js';
import { orderOf, type Order, type SortKeys } from './sort-keys.js';

/** A part of a WHERE clause, with its parameters. */
export interface Condition {
  sql: string;
  parameters?: Record<string, unknown>;
}

export interface PageRequest {
  limit: number;
  cursor?: string;
  /** A sort key of the list or `id`, prefixed with `-` for descending order. */
  sort?: string;
}

export interface OwnedTableOptions<T> {
  manager: EntityManager;
  entity: EntityTarget<T & object>;
  /** What a row is called in messages. */
  noun: string;
  /** The rows that the actor may access, with the table as `row`; null: all. */
  restriction: Condition | null;
  /** How many rows the actor may have; null: unlimited. */
  cap?: OwnedCap | null;
}

export interface OwnedCap {
  userId: number;
  most: number;
  /** SQL: how many places the rows take. Absent: one each. */
  places?: string;
}

/** The rows of one table that an actor may access: rows of other owners cannot be read, changed, removed or added. */
export class OwnedTable<T extends { id: number }> {
  private readonly options: OwnedTableOptions<T>;

  constructor(options: OwnedTableOptions<T>) {
    this.options = options;
  }

  /** Pages stay stable while rows are added and removed. @throws AppError VALIDATION_FAILED for an invalid cursor. */
  async page(
    { limit, cursor, sort = 'id' }: PageRequest,
    conditions: readonly Condition[] = [],
    keys: SortKeys = {},
  ): Promise<CursorPage<T>> {
    const order = orderOf(sort, keys);
    const direction = order.descending ? 'DESC' : 'ASC';
    const builder = this.rows([...conditions, ...beyond(order, cursor)]);
    // The id is selected anyway, and has an index.
    if (order.key !== 'id') builder.addSelect(order.sql, 'sort_key').orderBy('sort_key', direction);
    builder.addOrderBy('row.id', direction).limit(limit + 1);
    const { entities, raw } = await builder.getRawAndEntities<{ sort_key?: string | number }>();
    const items = entities.slice(0, limit);
    const last = items.at(-1);
    if (entities.length <= limit || !last) return { items, next_cursor: null };
    const value = String(raw[items.length - 1]?.sort_key ?? last.id);
    return { items, next_cursor: cursorAfter({ sort, value, id: last.id }) };
  }

  /** Sums and counts over the rows, each an aggregate of the table as `row`. */
  async figures<K extends string>(
    columns: Readonly<Record<K, string>>,
    conditions: readonly Condition[] = [],
  ): Promise<Record<K, number>> {
    const builder = this.rows(conditions).select([]);
    for (const [name, sql] of Object.entries<string>(columns)) builder.addSelect(sql, name);
    const found = (await builder.getRawOne<Record<K, unknown>>()) ?? ({} as Record<K, unknown>);
    return Object.fromEntries(Object.keys(columns).map((name) => [name, countOf(found[name as K])])) as Record<
      K,
      number
    >;
  }

  /**
   * The rows ranked first, with `figures` of each: a SELECT of `id`, of `place` (the largest first) and of the figures.
   */
  async ranked<K extends string>(
    ranking: Condition,
    figures: readonly K[],
    limit: number,
  ): Promise<(Record<K, number> & { row: T })[]> {
    const builder = this.rows([])
      .innerJoin(`(${ranking.sql})`, 'ranking', 'ranking.id = row.id')
      .setParameters(ranking.parameters ?? {})
      .addSelect('ranking.place', 'ranked_place');
    for (const name of figures) builder.addSelect(`ranking.${name}`, `ranked_${name}`);
    const { entities, raw } = await builder
      .orderBy('ranked_place', 'DESC')
      .addOrderBy('row.id')
      .limit(limit)
      .getRawAndEntities<Record<string, unknown>>();
    return entities.map((row, index) => {
      const values = figures.map((name) => [name, countOf(raw[index]?.[`ranked_${name}`])]);
      return { ...(Object.fromEntries(values) as Record<K, number>), row };
    });
  }

  /** The first of them. */
  async ids(limit: number): Promise<number[]> {
    const found = await this.rows([])
      .select('row.id', 'id')
      .orderBy('row.id')
      .limit(limit)
      .getRawMany<{ id: number }>();
    return found.map(({ id }) => Number(id));
  }

  /** @throws AppError NOT_FOUND, also for rows of other owners. */
  async one(id: number): Promise<T> {
    return this.found(id, await this.rows([byId(id)]).getOne());
  }

  /**
   * Locks the row until this transaction ends. @throws AppError NOT_FOUND, PRECONDITION_FAILED for another version than
   * the expected one
   */
  async lock(id: number, expected: ExpectedVersion | null = null): Promise<T> {
    const row = this.found(
      id,
      await this.rows([byId(id)])
        .setLock('pessimistic_write')
        .getOne(),
    );
    requireVersion(row, expected);
    return row;
  }

  async some(conditions: readonly Condition[]): Promise<T[]> {
    return this.rows(conditions).orderBy('row.id').getMany();
  }

  /**
   * Locks and changes the row; only given fields change. @throws AppError NOT_FOUND, PRECONDITION_FAILED for another
   * version than the expected one
   */
  async change(id: number, changes: DeepPartial<T>, expected: ExpectedVersion | null = null): Promise<T> {
    const before = await this.lock(id, expected);
    const { manager, entity } = this.options;
    const updatedAt = nextVersion(before);
    await manager.update(entity, id, { ...changes, updatedAt } as QueryDeepPartialEntity<T & object>);
    return this.one(id);
  }

  /** @throws AppError NOT_FOUND, PRECONDITION_FAILED for another version than the expected one */
  async remove(id: number, expected: ExpectedVersion | null = null): Promise<T> {
    const row = await this.lock(id, expected);
    await this.options.manager.delete(this.options.entity, id);
    return row;
  }

  /**
   * `places`: how many the row takes of the limit. @throws AppError NOT_FOUND for a row that would not be the actor's,
   * QUOTA_EXCEEDED beyond the limit.
   */
  async add(values: DeepPartial<T>, places = 1): Promise<T> {
    await this.requireRoom(places);
    const { manager, entity } = this.options;
    const now = new Date();
    const row = { ...values, createdAt: now, updatedAt: now } as unknown as QueryDeepPartialEntity<T & object>;
    const { identifiers } = await manager.insert(entity, row);
    return this.one((identifiers[0] as { id: number }).id);
  }

  /** Concurrent additions wait for each other's transactions. @throws AppError QUOTA_EXCEEDED */
  async requireRoom(places: number): Promise<void> {
    const { manager, noun, cap } = this.options;
    if (!cap) return;
    await manager.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`tunnel_gateway.cap ${noun} ${cap.userId}`]);
    const { owned } = await this.figures({ owned: cap.places ?? 'count(*)' });
    if (owned + places <= cap.most) return;
    throw new AppError('QUOTA_EXCEEDED', `A user can have at most ${cap.most} of the kind ${noun}`);
  }

  private rows(conditions: readonly Condition[]): SelectQueryBuilder<T & object> {
    const { manager, entity, restriction } = this.options;
    const builder = manager.createQueryBuilder(entity, 'row');
    const all = restriction ? [restriction, ...conditions] : conditions;
    for (const { sql, parameters } of all) builder.andWhere(`(${sql})`, parameters);
    return builder;
  }

  private found(id: number, row: T | null): T {
    if (row === null) throw new AppError('NOT_FOUND', `There is no ${this.options.noun} ${id}`);
    return row;
  }
}

/** A sum, which the database returns as text. Capped where numbers are no longer exact. */
function countOf(value: unknown): number {
  return Math.min(Number(value), MAX_COUNT);
}

/** The rows after a cursor. */
function beyond({ name, key, sql, kind, descending }: Order, cursor: string | undefined): Condition[] {
  const place = placeOfCursor(cursor, name, kind);
  if (place === null) return [];
  const sign = descending ? '<' : '>';
  if (key === 'id') return [{ sql: `row.id ${sign} :afterId`, parameters: { afterId: place.id } }];
  const value = kind === 'integer' ? 'CAST(:afterValue AS bigint)' : ':afterValue';
  return [
    {
      sql: `(${sql}, row.id) ${sign} (${value}, :afterId)`,
      parameters: { afterValue: place.value, afterId: place.id },
    },
  ];
}

function byId(id: number): Condition {
  return { sql: 'row.id = :id', parameters: { id } };
}
