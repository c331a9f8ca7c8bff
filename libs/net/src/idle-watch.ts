/** Bytes carried, plain fields: whoever holds the object reads them at any time. */
export interface ByteCounter {
  /** From client to remote. */
  upload: number;
  /** From remote to client. */
  download: number;
}

export interface IdleWatch {
  stop(): void;
}

/**
 * Calls `onIdle` once when nothing was counted for `idleMs`; it is noticed within twice the time. One timer that looks
 * when it fires: re-arming one on every chunk would cost more than carrying the chunk.
 */
export function watchIdle(counter: Readonly<ByteCounter>, idleMs: number, onIdle: () => void): IdleWatch {
  let seen = counter.upload + counter.download;
  const timer = setTimeout(() => {
    const bytes = counter.upload + counter.download;
    if (bytes === seen) return onIdle();
    seen = bytes;
    timer.refresh();
  }, idleMs);
  timer.unref();
  return { stop: () => clearTimeout(timer) };
}
