import { AsyncLocalStorage } from 'node:async_hooks';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { setActiveTracing, type SpanStart, type SpanValues, type TraceSpan, type Tracing } from '@gatehouse/tracing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDataSource, pgPool } from './data-source.js';

interface Recorded extends TraceSpan {
  trace: string;
  name: string;
  values: Record<string, unknown>;
  failed: string | undefined;
  ended: boolean;
}

/** Stands in for OpenTelemetry: keeps what it is given, with the name of the trace that it belongs to. */
class RecordingTracing implements Tracing {
  readonly spans: Recorded[] = [];
  private readonly traces = new AsyncLocalStorage<string>();

  run<T>(trace: string, work: () => T): T {
    return this.traces.run(trace, work);
  }

  start({ name, values = {} }: SpanStart): TraceSpan {
    const recorded: Recorded = {
      trace: this.traces.getStore() ?? '',
      name,
      values: { ...values },
      failed: undefined,
      ended: false,
      isRecording: true,
      rename: (other) => void (recorded.name = other),
      set: (more: SpanValues) => void Object.assign(recorded.values, more),
      fail: (type) => void (recorded.failed = type),
      end: () => void (recorded.ended = true),
    };
    this.spans.push(recorded);
    return recorded;
  }

  within<T>(_span: TraceSpan, work: () => T): T {
    return work();
  }
  isRecording(): boolean {
    return this.traces.getStore() !== undefined;
  }
  traceId(): string | undefined {
    return this.traces.getStore();
  }
  carrier(): undefined {
    return undefined;
  }
}

const tracing = new RecordingTracing();
let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  setActiveTracing(tracing);
  const config = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'spec' };
  // One connection, so that everybody waits for it.
  dataSource = await createDataSource({ ...config, poolSize: 1 }).initialize();
});
afterAll(async () => {
  setActiveTracing(null);
  await dataSource.destroy();
  await database.drop();
});
beforeEach(() => void tracing.spans.splice(0));

describe('statements in a trace', () => {
  it('belong to the one who waited for the connection, not to the one who returned it', async () => {
    const ask = (trace: string): Promise<unknown> =>
      tracing.run(trace, () =>
        Promise.all([
          // The one before it is the last of another trace.
          pgPool(dataSource).query('SELECT $1::text AS pool', [trace]),
          dataSource.query('SELECT $1::text AS typeorm', [trace]),
          dataSource.transaction(async (tx) => {
            await tx.query('SELECT $1::text AS inside', [trace]);
          }),
        ]),
      );
    const traces = Array.from({ length: 10 }, (_, index) => `trace-${index}`);
    await Promise.all(traces.map(ask));
    for (const trace of traces) {
      const texts = tracing.spans
        .filter((span) => span.trace === trace)
        .map(({ values }) => String(values['db.query.text']));
      expect(texts.toSorted()).toEqual([
        'COMMIT',
        'SELECT $1::text AS inside',
        'SELECT $1::text AS pool',
        'SELECT $1::text AS typeorm',
        'START TRANSACTION',
      ]);
    }
    expect(tracing.spans.every(({ ended, failed }) => ended && failed === undefined)).toBe(true);
  });

  it('say where they went, and keep values to themselves', async () => {
    const { rows } = await tracing.run('one', () =>
      pgPool(dataSource).query<{ a: string }>({ text: `SELECT $1::text || ' literal' AS a`, values: ['parameter'] }),
    );
    expect(rows).toEqual([{ a: 'parameter literal' }]);
    const { hostname, port, pathname } = new URL(database.url);
    expect(tracing.spans.map(({ values }) => values)).toEqual([
      {
        'db.system.name': 'postgresql',
        'db.namespace': `${pathname.slice(1)}|public`,
        'db.query.summary': 'SELECT',
        'db.query.text': 'SELECT $1::text || ? AS a',
        'server.address': hostname,
        'server.port': Number(port),
      },
    ]);
  });

  it('fail with their code, and the caller gets the error', async () => {
    const wrong = tracing.run('one', () => dataSource.query(`SELECT 'secret'::int`));
    await expect(wrong).rejects.toThrow('invalid input syntax');
    expect(tracing.spans).toMatchObject([{ failed: '22P02', ended: true, name: 'SELECT' }]);
    expect(JSON.stringify(tracing.spans)).not.toContain('secret');
  });

  it('are none outside a trace', async () => {
    await dataSource.query('SELECT 1');
    await pgPool(dataSource).query('SELECT 1');
    expect(tracing.spans).toEqual([]);
  });
});
