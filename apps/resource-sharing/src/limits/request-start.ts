const STARTED = Symbol('when the request came');

interface Timed {
  [STARTED]?: number;
}

/** Notes when a request came, in monotonic milliseconds. */
export function markStart(request: object): void {
  (request as Timed)[STARTED] = performance.now();
}

/** When it came; now, when that was not noted. */
export function startOf(request: object): number {
  return (request as Timed)[STARTED] ?? performance.now();
}
