import type { Actor } from '@gatehouse/auth';
import type { RestoredRow } from '@gatehouse/contracts';
import type { EntityManager } from 'typeorm';
import { fieldError } from '../../wire/field-error.js';

export type Kind = RestoredRow['kind'];
/** Maps ids of the archive to new ones. */
export type RestoredIds = Record<Kind, ReadonlyMap<number, number>>;

export interface RestoreContext {
  ids: RestoredIds;
  /** Rows that the answer reports. */
  changed: RestoredRow[];
  actor: Actor;
  tx: EntityManager;
}

/** The id that the row gets here. */
export function idOf({ ids }: RestoreContext, kind: Kind, id: number): number {
  return ids[kind].get(id) ?? id;
}

/** The new id of a referenced row. @throws AppError VALIDATION_FAILED if it is not in the archive. */
export function referred({ ids }: RestoreContext, kind: Kind, id: number, field: string): number {
  const found = ids[kind].get(id);
  if (found === undefined) throw fieldError(field, `there is no ${kind} ${id} in the archive`);
  return found;
}

/** Reports only what users need to know. */
export function push(
  context: RestoreContext,
  row: Omit<RestoredRow, 'new_id' | 'secret'> & { secret?: string | null },
): void {
  const { secret = null, ...rest } = row;
  const newId = idOf(context, row.kind, row.id);
  if (newId !== row.id || row.note !== null || secret !== null)
    context.changed.push({ ...rest, new_id: newId, secret });
}
