import type { ConnectionView } from '@gatehouse/contracts';

/** A connection as it was when it was last seen. */
export interface ClosedConnection extends ConnectionView {
  closed_at: string;
}

export type ListedConnection = ConnectionView | ClosedConnection;

/** The open connections at the last look, and those that have closed between two looks, newest first. */
export interface ConnectionHistory {
  open: ReadonlyMap<string, ConnectionView>;
  closed: readonly ClosedConnection[];
}

export const MAX_CLOSED = 500;
export const NO_HISTORY: ConnectionHistory = { open: new Map(), closed: [] };

/** The id alone is unique only until the kernel starts again. */
export function keyOf({ id, start }: ConnectionView): string {
  return `${id} ${start}`;
}

export function closedAt(connection: ListedConnection): string | null {
  return 'closed_at' in connection ? connection.closed_at : null;
}

/** @param now milliseconds since the epoch */
export function nextHistory(
  before: ConnectionHistory,
  connections: readonly ConnectionView[],
  now: number,
): ConnectionHistory {
  const open = new Map(connections.map((connection) => [keyOf(connection), connection]));
  const gone = [...before.open].filter(([key]) => !open.has(key)).map(([, connection]) => toClosed(connection, now));
  return { open, closed: gone.length === 0 ? before.closed : [...gone, ...before.closed].slice(0, MAX_CLOSED) };
}

function toClosed(connection: ConnectionView, now: number): ClosedConnection {
  const duration_ms = Math.max(connection.duration_ms, now - Date.parse(connection.start));
  return { ...connection, duration_ms, upload_speed: 0, download_speed: 0, closed_at: new Date(now).toISOString() };
}
