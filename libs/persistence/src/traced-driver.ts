import { AsyncResource } from 'node:async_hooks';
import { sqlStateOf } from '@gatehouse/postgres';
import { activeTracing, errorType, type SpanStart, type TraceSpan, type Tracing } from '@gatehouse/tracing';
import pg from 'pg';
import { summaryOf, withoutLiterals } from './statement-text.js';

type Query = (this: pg.Client, ...parts: unknown[]) => unknown;
type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/** For TypeORM: the driver, with a span for each statement of a trace while tracing is on. */
export function tracedDriver(schema: string): typeof pg {
  const tracing = activeTracing();
  return tracing === null ? pg : { ...pg, Pool: tracedPool(tracing, schema) };
}

function tracedPool(tracing: Tracing, schema: string): typeof pg.Pool {
  const Client = tracedClient(tracing, schema);
  class TracedPool extends pg.Pool {
    constructor(options: pg.PoolConfig) {
      super({ ...options, Client });
    }

    /** A connection is handed over by the one that returned it: the one who waited must get its own trace back. */
    override connect(): Promise<pg.PoolClient>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
      if (connected === undefined) return super.connect();
      super.connect(AsyncResource.bind(connected));
      return undefined;
    }
  }
  return TracedPool;
}

function tracedClient(tracing: Tracing, schema: string): typeof pg.Client {
  class TracedClient extends pg.Client {}
  const { query: send } = pg.Client.prototype as unknown as { query: Query };
  const query: Query = function (...parts) {
    // What nobody traces, and what is no plain statement, such as COPY.
    const text = tracing.isRecording() ? textOf(parts[0]) : undefined;
    if (text === undefined) return send.apply(this, parts);
    const span = tracing.start(spanOf(this, schema, text));
    const last = parts.at(-1);
    if (typeof last === 'function') {
      const done = AsyncResource.bind(last as Callback);
      const ended: Callback = (error, ...rest) => {
        endSpan(span, error);
        done(error, ...rest);
      };
      return send.apply(this, [...parts.slice(0, -1), ended]);
    }
    const answer = send.apply(this, parts);
    if (answer instanceof Promise)
      answer.then(
        () => span.end(),
        (error: unknown) => endSpan(span, error),
      );
    else span.end();
    return answer;
  };
  Object.assign(TracedClient.prototype, { query });
  return TracedClient;
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  if (typeof statement !== 'object' || statement === null || 'submit' in statement) return undefined;
  const { text, callback } = statement as { text?: unknown; callback?: unknown };
  return typeof text === 'string' && callback === undefined ? text : undefined;
}

function spanOf(client: pg.Client, schema: string, text: string): SpanStart {
  const summary = summaryOf(text);
  return {
    name: summary === '' ? 'postgresql' : summary,
    kind: 'client',
    values: {
      'db.system.name': 'postgresql',
      'db.namespace': `${client.database ?? ''}|${schema}`,
      'db.query.summary': summary,
      'db.query.text': withoutLiterals(text),
      'server.address': client.host,
      'server.port': client.port,
    },
  };
}

/** The message of an error may contain values; its code does not. */
function endSpan(span: TraceSpan, error: unknown): void {
  if (error) {
    const state = sqlStateOf(error);
    if (state !== '') span.set({ 'db.response.status_code': state });
    span.fail(state === '' ? errorType(error) : state);
  }
  span.end();
}
