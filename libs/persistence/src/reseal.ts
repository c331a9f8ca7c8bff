import { bilingual, BilingualError, type Bilingual } from '@gatehouse/i18n';
import { SecretBoxError, type SecretBox } from '@gatehouse/net';
import { quoteIdentifier } from './data-source.js';
import { withClient, type PgClient } from './pg-client.js';

/** A column of sealed texts. */
export interface SealedColumn {
  /** With its schema. */
  table: string;
  /** Columns of the primary key. */
  key: readonly string[];
  column: string;
  box: SecretBox;
  /** The place of a row's text, with which it was sealed. */
  place?: (row: Record<string, unknown>) => string;
  /** Earlier places of texts. Each run binds them to `place`. */
  formerPlace?: string;
  /** A condition for tables in which only some rows have sealed texts. */
  where?: string;
}

export interface ResealOutcome {
  table: string;
  column: string;
  resealed: number;
  /** Rows that none of the keys opens; they are not changed. */
  unreadable: number;
}

const BATCH = 500;

/** Opens a separate connection for the whole work. @returns a line for each column, for the operator */
export async function resealDatabase(url: string, columns: readonly SealedColumn[]): Promise<Bilingual[]> {
  const outcomes = await withClient(url, (client) => resealColumns(client, columns));
  const lines = outcomes.map(describeOutcome);
  if (outcomes.some(({ unreadable }) => unreadable > 0)) throw new UnreadableSecretsError(lines);
  return lines;
}

function describeOutcome({ table, column, resealed, unreadable }: ResealOutcome): Bilingual {
  const english = unreadable === 0 ? '' : `, ${unreadable} that none of the keys opens`;
  const chinese = unreadable === 0 ? '' : `，${unreadable} 条无法用任何密钥打开`;
  return bilingual(
    `${table}.${column}: ${resealed} sealed again${english}`,
    `${table}.${column}：已重新加密 ${resealed} 条${chinese}`,
  );
}

const ADD_THE_KEY = bilingual(
  'Add the key that sealed the others to GATEHOUSE_SECRET_KEYS and repeat.',
  '请将加密其余内容的密钥加入 GATEHOUSE_SECRET_KEYS，然后重试。',
);

/** Some sealed texts cannot be opened with the keys at hand. */
export class UnreadableSecretsError extends BilingualError {
  override readonly name = 'UnreadableSecretsError';

  constructor(outcomes: readonly Bilingual[]) {
    const lines = [...outcomes, ADD_THE_KEY];
    super(bilingual(lines.map(({ en }) => en).join('\n'), lines.map(({ 'zh-CN': chinese }) => chinese).join('\n')));
  }
}

/**
 * Seals with the newest key everything that an older one sealed, batch by batch, while the service runs: a row that
 * changes in the meantime keeps its change.
 */
export async function resealColumns(
  pool: Pick<PgClient, 'query'>,
  columns: readonly SealedColumn[],
): Promise<ResealOutcome[]> {
  const outcomes: ResealOutcome[] = [];
  for (const column of columns) outcomes.push(await resealColumn(pool, column));
  return outcomes;
}

async function resealColumn(pool: Pick<PgClient, 'query'>, sealed: SealedColumn): Promise<ResealOutcome> {
  const outcome = { table: sealed.table, column: sealed.column, resealed: 0, unreadable: 0 };
  let after: unknown[] | null = null;
  for (;;) {
    const rows: Record<string, unknown>[] = await readBatch(pool, sealed, after);
    for (const row of rows) {
      const text = resealed(sealed, row);
      if (text === null) outcome.unreadable += 1;
      else if (text !== undefined) outcome.resealed += await replace(pool, sealed, row, text);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return outcome;
    after = sealed.key.map((name) => last[name]);
  }
}

async function readBatch(
  pool: Pick<PgClient, 'query'>,
  { table, key, column, box, formerPlace, where = 'true' }: SealedColumn,
  after: unknown[] | null,
): Promise<Record<string, unknown>[]> {
  const keys = key.map(quoteIdentifier).join(', ');
  const from = after === null ? '' : ` AND (${keys}) > (${key.map((_, at) => `$${at + 2}`).join(', ')})`;
  const name = quoteIdentifier(column);
  const { rows } = await pool.query<Record<string, unknown>>(
    `SELECT ${keys}, ${name} AS sealed FROM ${table}
     WHERE ${name} IS NOT NULL AND NOT starts_with(${name}, $1) AND ${where}${from} ORDER BY ${keys} LIMIT ${BATCH}`,
    // The place of a text cannot be seen, so all are tried.
    [formerPlace === undefined ? box.newest : 'none', ...(after ?? [])],
  );
  return rows;
}

/** Null: none of the keys opens it. Undefined: it is up to date. */
function resealed({ box, place, formerPlace }: SealedColumn, row: Record<string, unknown>): string | null | undefined {
  const sealed = String(row['sealed']);
  const at = place?.(row);
  const text = opened(box, sealed, at);
  if (text !== null) return sealed.startsWith(box.newest) ? undefined : box.seal(text, at);
  const former = formerPlace === undefined ? null : opened(box, sealed, formerPlace);
  return former === null ? null : box.seal(former, at);
}

function opened(box: SecretBox, sealed: string, place: string | undefined): string | null {
  try {
    return box.open(sealed, place);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

async function replace(
  pool: Pick<PgClient, 'query'>,
  { table, key, column }: SealedColumn,
  row: Record<string, unknown>,
  text: string,
): Promise<number> {
  const name = quoteIdentifier(column);
  const same = key.map((one, at) => `${quoteIdentifier(one)} = $${at + 3}`).join(' AND ');
  const result = await pool.query(`UPDATE ${table} SET ${name} = $1 WHERE ${name} = $2 AND ${same}`, [
    text,
    row['sealed'],
    ...key.map((one) => row[one]),
  ]);
  return result.rowCount ?? 0;
}
