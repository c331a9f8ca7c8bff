import type { Response } from 'express';

const RETRY_MS = 2_000;

/** Begins an answer with server-sent events (HTML Living Standard 9.2). */
export function beginEventStream(response: Response): void {
  response.on('error', () => undefined);
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // Without this nginx buffers the events.
    'X-Accel-Buffering': 'no',
    // An idle connection after the stream would delay the shutdown.
    Connection: 'close',
  });
  response.write(`retry: ${RETRY_MS}\n\n`);
}

/** Waits, but no longer than the client stays connected. */
export function waitWhileOpen(response: Response, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
    if (response.destroyed) done();
  });
}
