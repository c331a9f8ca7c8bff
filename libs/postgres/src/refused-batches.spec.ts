import { describe, expect, it } from 'vitest';
import { isRefusedData } from './database-errors.js';
import { halveRows, writeBatches } from './refused-batches.js';

const refusal = (code = '22003'): Error => Object.assign(new Error('refused'), { severity: 'ERROR', code });
const away = Object.assign(new Error('away'), { code: 'ECONNRESET' });

/** A table that takes no row of `bad`. */
function table(bad: readonly number[]): {
  rows: number[];
  refused: number[];
  statements: number;
  write(queue: (readonly number[])[]): Promise<void>;
} {
  const made = {
    rows: [] as number[],
    refused: [] as number[],
    statements: 0,
    write: (queue: (readonly number[])[]) =>
      writeBatches(queue, {
        write: async (rows) => {
          made.statements += 1;
          if (rows.some((row) => bad.includes(row))) throw refusal();
          made.rows.push(...rows);
        },
        halve: halveRows,
        setAside: (rows) => made.refused.push(...rows),
      }),
  };
  return made;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('batches that the database refuses', () => {
  it('lose only the rows that cause it, in order and with few statements', async () => {
    const made = table([700]);
    const queue = [upTo(1_000), [1_000, 1_001]];
    await made.write(queue);
    expect(made.refused).toEqual([700]);
    expect(made.rows).toEqual([...upTo(1_002)].filter((row) => row !== 700));
    expect(made.statements).toBeLessThan(25);
    expect(queue).toEqual([]);
  });

  it('are dropped completely if all of their rows cause it', async () => {
    const rows = upTo(10_000);
    const made = table(rows);
    await made.write([rows]);
    expect(made.refused).toEqual(rows);
    expect(made.statements).toBeLessThan(600);
  });

  it('stay in the queue, except what was written, when the database goes away', async () => {
    const written: number[] = [];
    const queue: (readonly number[])[] = [[1, 2], [3], [4]];
    const steps = {
      write: async (rows: readonly number[]) => {
        if (rows.includes(3)) throw away;
        if (rows.length > 1) throw refusal();
        written.push(...rows);
      },
      halve: halveRows,
      setAside: () => undefined,
    };
    await expect(writeBatches<readonly number[]>(queue, steps)).rejects.toBe(away);
    expect([written, queue]).toEqual([
      [1, 2],
      [[3], [4]],
    ]);
  });

  it('are distinguished from those that may be accepted later', () => {
    for (const code of ['22P05', '23505', '54000', '21000', '44000', 'P0001'])
      expect(isRefusedData(refusal(code))).toBe(true);
    for (const code of ['40P01', '40001', '55P03', '57014', '53100', '42P01', '08006'])
      expect(isRefusedData(refusal(code))).toBe(false);
    expect(isRefusedData(Object.assign(new Error('typeorm'), { driverError: refusal() }))).toBe(true);
    expect(isRefusedData(new RangeError('Invalid time value'))).toBe(true);
    for (const error of [away, Object.assign(new Error(), { code: '22003' }), new TypeError('x')])
      expect(isRefusedData(error)).toBe(false);
  });
});
