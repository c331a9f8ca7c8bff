/**
 * Wraps a task so that one run is under way at a time, and everybody who asks during it shares exactly one further run:
 * whoever asked after a change gets a run that began after it.
 */
export function coalesce<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const run = (): Promise<T> => {
    running = task().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (!running) return run();
    next ??= running.then(
      () => startNext(),
      () => startNext(),
    );
    return next;
  };
  function startNext(): Promise<T> {
    next = null;
    return run();
  }
}
