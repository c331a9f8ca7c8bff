import {
  KEEP_ALIVE,
  KEPT_CONNECTIONS,
  patientPool,
  poolTypes,
  prepareSession,
  SERVICE_PATIENCE,
  sqlStateOf,
} from '@gatehouse/postgres';
import pg from 'pg';

const CONNECT_MS = 3_000;
/** Longer than the server's own limit, whose error says more. */
const QUERY_MS = SERVICE_PATIENCE.statementMs + 5_000;
/** Not counting the listening connection of each process. */
const EDGE_POOL_SIZE = 3;

const Pool = patientPool(pg.Pool);

/** What the edge's code needs of a database. */
export interface Queries {
  query<R extends object>(text: string, values?: unknown[]): Promise<{ rows: R[]; rowCount: number | null }>;
}

function connection(url: string, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    // Otherwise a query would wait for ever on a database whose machine has disappeared.
    query_timeout: QUERY_MS,
    ...KEEP_ALIVE,
    types: poolTypes,
  };
}

/** The edge's connections: few, opened on demand, replaced when they break. */
export class EdgeDatabase implements Queries {
  private readonly url: string;
  private readonly pool: pg.Pool;
  /** Whether the last query was answered. */
  answers = false;

  constructor(url: string) {
    this.url = url;
    this.pool = new Pool({
      ...connection(url, 'tunnel-gateway edge'),
      max: EDGE_POOL_SIZE,
      ...KEPT_CONNECTIONS,
      onConnect: prepareSession({}),
    });
    this.pool.on('error', () => undefined);
  }

  async query<R extends object>(text: string, values: unknown[] = []): Promise<{ rows: R[]; rowCount: number | null }> {
    return this.watched(() => this.pool.query<R>(text, values));
  }

  /** Runs queries in one consistent snapshot. */
  async snapshot<T>(read: (queries: Queries) => Promise<T>): Promise<T> {
    return this.watched(async () => {
      const client = await this.pool.connect();
      try {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const result = await read(client);
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        throw error;
      }
    });
  }

  /** A separate connection for notifications. */
  listener(): pg.Client {
    return new pg.Client(connection(this.url, 'tunnel-gateway edge listener'));
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.answers = true;
      return result;
    } catch (error) {
      this.answers = isAnswer(error);
      throw error;
    }
  }
}

/** Connection errors, too many connections, and shutdowns: the database is not available. */
const AWAY = /^(?:08|53|57P)/;

/** Whether the database answered with an error, rather than not at all. */
export function isAnswer(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== '' && !AWAY.test(state);
}
