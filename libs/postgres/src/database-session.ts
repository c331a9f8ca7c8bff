import type { Socket } from 'node:net';

/** What is needed of a connection of `pg`, which this library does not load. */
export interface DatabaseClient {
  on(event: 'error', listener: (error: Error) => void): unknown;
  query(text: string): Promise<unknown>;
}

/** Names of settings are ours; values are quoted. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/** How long a connection waits. In milliseconds. */
export interface Patience {
  /** For a statement, its waits for locks included. */
  statementMs: number;
  /** For one lock. */
  lockMs: number;
  /** On top of `statementMs`, for a server that should have ended the statement; 10,000 if nothing is said. */
  silenceMs?: number;
}

/** Of services: a client waits for the answer, and many requests share few connections. */
export const SERVICE_PATIENCE: Patience = { statementMs: 30_000, lockMs: 5_000 };
/** Of a migration's transaction. It waits for locks no longer than a service: everybody else queues behind it. */
export const MIGRATION_PATIENCE: Patience = { statementMs: 3_600_000, lockMs: 5_000 };
/** Of jobs whose single statements may be long. */
export const JOB_PATIENCE: Patience = { statementMs: 600_000, lockMs: 5_000 };

/** A server ends a transaction that its client has left open. */
const IDLE_IN_TRANSACTION_MS = 60_000;
/** The server closes a connection whose client acknowledges nothing for this long, and releases its locks. */
const SERVER_GIVES_UP_MS = 30_000;
/**
 * The server probes a silent client. By default it does so only after two hours, and until then an unreachable client
 * would keep its connection and the locks of its session.
 */
const SERVER_ASKS = { tcp_keepalives_idle: 30, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 } as const;
const SILENCE_MS = 10_000;

/** For every connection: a peer that is gone is noticed after seconds of silence, not after two hours. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/**
 * For `onConnect` of a pool: gives a new connection its settings and limits, and keeps it from ending the process when it
 * breaks in nobody's hands. They are not sent while connecting, because PgBouncer refuses a connection that brings any.
 * The pool waits for the promise that the function returns, which its types do not say.
 */
export function prepareSession(
  settings: SessionSettings,
  patience: Patience = SERVICE_PATIENCE,
): (client: DatabaseClient) => unknown {
  const all = {
    ...settings,
    statement_timeout: patience.statementMs,
    lock_timeout: patience.lockMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    tcp_user_timeout: SERVER_GIVES_UP_MS,
    ...SERVER_ASKS,
  };
  const text = Object.entries(all)
    .map(([name, value]) => `SET ${name} = ${value};`)
    .join(' ');
  return async (client) => {
    // A connection can break after it is handed out and before its user listens. The next query then fails.
    client.on('error', () => undefined);
    watchSilence(client);
    limitSilence(client, patience);
    await client.query(text);
  };
}

/** What `pg` does not declare. */
interface ClientInside {
  readonly connection: { readonly stream: Socket };
  _getActiveQuery(): unknown;
}

/**
 * Breaks the connection when a statement gets no answer although the server would have given it up by now. The driver's
 * own `query_timeout` ends the query alone: the connection would go back to the pool, and hold up the next as long.
 */
function watchSilence(client: DatabaseClient): void {
  const inside = client as unknown as ClientInside;
  const { stream } = inside.connection;
  stream.on('timeout', () => {
    // Without a statement it is idle, or listens.
    if (inside._getActiveQuery()) stream.destroy(new Error('Connection terminated: the database does not answer'));
  });
}

/** For how long the server may be silent from now on. */
export function limitSilence(client: DatabaseClient, { statementMs, silenceMs = SILENCE_MS }: Patience): void {
  (client as unknown as ClientInside).connection.stream.setTimeout(statementMs + silenceMs);
}
