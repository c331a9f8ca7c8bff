import type { Server } from 'node:http';
import { jsonAnswer, serveWatchers, type WatchAnswer } from '@gatehouse/platform';
import type { EdgeStatus } from './edge-ipc.js';

/** What of an edge does not work; as `/readyz` of the service names it. */
export function problemsOf({ databaseAnswers, source, workers = [], problems = [] }: EdgeStatus): string[] {
  return [
    ...(workers.includes(null) ? ['a worker of the edge does not serve'] : []),
    ...(source === 'snapshot' ? ['the edge serves the last snapshot of the configuration'] : []),
    ...(source === 'database' && !databaseAnswers ? ['the edge has no database'] : []),
    ...problems,
  ];
}

/**
 * `/healthz`: the edge serves, whatever it serves from. `/readyz`: with the database behind it. 200, or 503 with the
 * problems. On the loopback alone. @throws Error of `listen`.
 */
export function serveHealth(port: number, status: () => Promise<EdgeStatus>): Promise<Server> {
  const answer = async (alive: boolean): Promise<WatchAnswer> => {
    const problems = await status()
      .then((found) => (alive ? [] : problemsOf(found)))
      .catch(() => ['the edge does not serve']);
    const works = problems.length === 0;
    return jsonAnswer(works ? 200 : 503, { status: works ? 'ok' : 'unavailable', problems });
  };
  return serveWatchers(
    { port, address: '127.0.0.1' },
    { '/healthz': () => answer(true), '/readyz': () => answer(false) },
  );
}
