/**
 * Wraps a task so that only one run is under way at a time. All calls during a run share one further run, so each
 * caller gets a run that began after its call.
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
