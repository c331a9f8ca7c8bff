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

/** Wraps a read so that calls of the same turn share one. Each caller gets a read that began after its call. */
export function sharedInTurn<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | null = null;
  return () => {
    next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = null;
      return read();
    });
    return next;
  };
}

/** The value, or undefined if it takes longer. A rejection is passed on. */
export async function within<T>(ms: number, value: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}
