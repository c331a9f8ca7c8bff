/** Bytes carried so far. Plain fields that may be read at any time. */
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
 * Calls `onIdle` once when nothing was counted for `idleMs`, within twice that time. It uses one timer that looks at the
 * counter when it fires: restarting a timer for every chunk would cost more than carrying the chunk.
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
