import { parseBigInt } from '@gatehouse/net';
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
