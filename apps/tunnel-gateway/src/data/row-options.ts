import { In, type EntityManager, type EntityTarget, type FindOptionsWhere, type ObjectLiteral } from 'typeorm';

/**
 * Reads options without a column in the data model, for rows that were found before: the keys come from `OwnedTable`.
 */
export async function readOptions<T extends ObjectLiteral, K extends keyof T & string>(
  manager: EntityManager,
  entity: EntityTarget<T>,
  key: K,
  ids: readonly number[],
): Promise<Map<number, T>> {
  if (ids.length === 0) return new Map();
  const found = await manager.findBy(entity, { [key]: In([...ids]) } as FindOptionsWhere<T>);
  return new Map(found.map((options) => [options[key] as number, options]));
}

/** Writes the given options; a row without options has no row in the table. */
export async function writeOptions<T extends ObjectLiteral, K extends keyof T & string>(
  manager: EntityManager,
  entity: EntityTarget<T>,
  key: K,
  id: number,
  said: { [F in keyof T]?: T[F] | undefined },
): Promise<void> {
  const fields = Object.entries(said).filter(([, value]) => value !== undefined);
  if (fields.length === 0) return;
  await manager.upsert(entity, { ...Object.fromEntries(fields), [key]: id } as never, [key]);
}
