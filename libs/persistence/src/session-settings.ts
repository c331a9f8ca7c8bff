import type pg from 'pg';

/** Names of settings are ours; values are quoted. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * For `onConnect` of a pool: gives a new connection its settings and keeps it from ending the process when it breaks in
 * nobody's hands. They are not sent while connecting, because PgBouncer refuses a connection that brings any. The pool
 * waits for the promise that the function returns, which its types do not say.
 */
export function prepareSession(settings: SessionSettings): (client: pg.ClientBase) => unknown {
  const text = Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value};`)
    .join(' ');
  return async (client) => {
    // A connection can break between being handed out and its user listening. The next query tells that user.
    client.on('error', () => undefined);
    await client.query(text);
  };
}
