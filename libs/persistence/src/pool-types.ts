import pg from 'pg';

const { builtins } = pg.types;

/** bigint arrives as a number: ids and counters stay below 2^53, and a value above it is an error, never rounded. */
function parseBigInt(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`The bigint ${text} does not fit a JavaScript number: select it as text.`);
  }
  return value;
}

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
