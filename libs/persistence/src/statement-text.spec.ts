import { describe, expect, it } from 'vitest';
import { summaryOf, withoutLiterals } from './statement-text.js';

describe('the text of a statement in a trace', () => {
  it.each([
    ['SELECT a FROM t WHERE b = $1 AND c = $12', 'SELECT a FROM t WHERE b = $1 AND c = $12'],
    [`SELECT 'it''s' , "a'b" FROM "t1" LIMIT 10`, `SELECT ? , "a'b" FROM "t1" LIMIT ?`],
    [String.raw`SELECT E'a\'secret' || 'b'`, 'SELECT ? || ?'],
    ['SELECT $$a secret$$, $tag$ it is $$ here $tag$ FROM t2', 'SELECT ?, ? FROM t2'],
    [`SELECT 1 -- it's a note\n, 2 /* 'another' */ FROM t`, 'SELECT ? , ? FROM t'],
    [`SELECT 'never ends`, 'SELECT ?'],
    ['SET LOCAL lock_timeout = 5000', 'SET LOCAL lock_timeout = ?'],
    ['SELECT a[2], 1.5::numeric, x1', 'SELECT a[?], ?::numeric, x1'],
  ])('of %s has no values', (text, expected) => {
    expect(withoutLiterals(text)).toBe(expected);
  });

  it('is cut when it is long', () => {
    expect(withoutLiterals(`SELECT ${'column, '.repeat(1_000)}`).length).toBeLessThan(2_100);
  });

  it('takes a time that grows with its length alone', () => {
    const startedAt = performance.now();
    for (const part of [`'`, `$$`, `"`, `/*`, `--`, `E'\\`, `$a$`]) withoutLiterals(part.repeat(20_000));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('the summary of a statement', () => {
  it.each([
    ['SELECT "n"."id" FROM "proxy_gateway"."nodes" "n" WHERE 1 = 1', 'SELECT nodes'],
    ['INSERT INTO "job_outbox" (queue) VALUES ($1)', 'INSERT job_outbox'],
    ['UPDATE ONLY nodes SET name = $1', 'UPDATE nodes'],
    ['DELETE FROM nodes WHERE id = ANY($1)', 'DELETE nodes'],
    ['WITH a AS (SELECT 1 FROM first) SELECT * FROM a', 'WITH first'],
    ['COMMIT', 'COMMIT'],
    ['SELECT pg_notify($1, $2)', 'SELECT'],
    ['', ''],
  ])('of %s is %s', (text, expected) => {
    expect(summaryOf(text)).toBe(expected);
  });
});
