import type { CursorPage } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type { DeepPartial, EntityManager, EntityTarget, SelectQueryBuilder } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm';
import { cursorAfter, idOfCursor, placeOfCursor, sortedCursorAfter } from './cursor.js';

/** A part of a WHERE, with its parameters. */
export interface Condition {
  sql: string;
  parameters?: Record<string, unknown>;
}

export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** By a whole number of each row that is not negative. */
export interface Order<T> {
  /** Of the table as `row`; never null. */
  sql: string;
  /** The same of a row that was read. */
  valueOf(row: T): number;
}

export interface OwnedTableOptions<T> {
  manager: EntityManager;
  entity: EntityTarget<T & object>;
  /** What a row is called in messages. */
  noun: string;
  /** Which rows the actor may touch, of the table as `row`; null: all. */
  restriction: Condition | null;
}

/**
 * The rows of one table that an actor may touch: no row of another owner can be read, changed, removed or made through it.
 */
export class OwnedTable<T extends { id: number }> {
  private readonly options: OwnedTableOptions<T>;

  constructor(options: OwnedTableOptions<T>) {
    this.options = options;
  }

  /** In the order of their ids. @throws AppError VALIDATION_FAILED for a cursor that is none. */
  async page({ limit, cursor }: PageRequest, conditions: readonly Condition[] = []): Promise<CursorPage<T>> {
    const builder = this.rows([...conditions, { sql: 'row.id > :after', parameters: { after: idOfCursor(cursor) } }]);
    const found = await builder
      .orderBy('row.id')
      .limit(limit + 1)
      .getMany();
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, next_cursor: found.length > limit && last ? cursorAfter(last.id) : null };
  }

  /** The largest first. @throws AppError VALIDATION_FAILED for a cursor that is none. */
  async pageBy(
    order: Order<T>,
    { limit, cursor }: PageRequest,
    conditions: readonly Condition[] = [],
  ): Promise<CursorPage<T>> {
    const builder = this.rows(conditions);
    if (cursor !== undefined) {
      const { value, id } = placeOfCursor(cursor);
      builder.andWhere(`(${order.sql}, row.id) < (:afterValue, :afterId)`, { afterValue: value, afterId: id });
    }
    const found = await builder
      .addSelect(order.sql, 'sort_key')
      .orderBy('sort_key', 'DESC')
      .addOrderBy('row.id', 'DESC')
      .limit(limit + 1)
      .getMany();
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const more = found.length > limit && last;
    return { items, next_cursor: more ? sortedCursorAfter({ value: order.valueOf(last), id: last.id }) : null };
  }

  /** @throws AppError NOT_FOUND, for rows of others too. */
  async one(id: number): Promise<T> {
    return this.found(id, await this.rows([byId(id)]).getOne());
  }

  /** The row, which nobody else changes before this transaction ends. @throws AppError NOT_FOUND */
  async lock(id: number): Promise<T> {
    return this.found(
      id,
      await this.rows([byId(id)])
        .setLock('pessimistic_write')
        .getOne(),
    );
  }

  async some(conditions: readonly Condition[]): Promise<T[]> {
    return this.rows(conditions).orderBy('row.id').getMany();
  }

  /** Locks and changes the row; only fields that are said are touched. @throws AppError NOT_FOUND */
  async change(id: number, changes: DeepPartial<T>): Promise<T> {
    await this.lock(id);
    const { manager, entity } = this.options;
    await manager.update(entity, id, { ...changes, updatedAt: new Date() } as QueryDeepPartialEntity<T & object>);
    return this.one(id);
  }

  /** @throws AppError NOT_FOUND */
  async remove(id: number): Promise<T> {
    const row = await this.lock(id);
    await this.options.manager.delete(this.options.entity, id);
    return row;
  }

  /** @throws AppError NOT_FOUND for a row that would not be the actor's. */
  async add(values: DeepPartial<T>): Promise<T> {
    const { manager, entity } = this.options;
    const now = new Date();
    const row = { ...values, createdAt: now, updatedAt: now } as unknown as QueryDeepPartialEntity<T & object>;
    const { identifiers } = await manager.insert(entity, row);
    return this.one((identifiers[0] as { id: number }).id);
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

function byId(id: number): Condition {
  return { sql: 'row.id = :id', parameters: { id } };
}
