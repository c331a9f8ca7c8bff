import { MAX_COUNT } from '@gatehouse/net';
import pg from 'pg';

const { builtins } = pg.types;

/** Type parsers of every pool and client of the platform. */
export const poolTypes: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === builtins.INT8 && format !== 'binary'
      ? parseBigInt
      : // pg's own table; its declared overloads do not accept a plain number.
        (pg.types.getTypeParser as (oid: number, format?: string) => unknown)(
          oid,
          format,
        )) as typeof pg.types.getTypeParser,
};

/**
 * A `bigint` of the database as a number. One outside ±(2^53 - 1) becomes that bound: it is never rounded to another
 * number, and a list does not fail for a single counter.
 */
function parseBigInt(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  return value > 0 ? MAX_COUNT : -MAX_COUNT;
}
