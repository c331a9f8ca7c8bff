/** What either side may send before it is given more. */
export const FIRST_WINDOW_BYTES = 16 * 1024;
/** Of a stream in use, among few others. */
const WINDOW_BYTES = 1024 * 1024;
const MIN_WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** All first windows together, about; as much again for those that grow. */
const BUDGET_BYTES = 32 * 1024 * 1024;

/**
 * How much the streams of one connection may be sent: what a receiver may have to keep for those whose readers stand
 * still. Windows grow to twice what the line holds (bandwidth times delay), as long as all together stay in bounds.
 */
export class WindowBudget {
  private granted = 0;
  /** Round trip of the line, milliseconds; null before it was measured. */
  roundTripMs: number | null = null;

  /** Window of a stream that is used from now on, one of `streams`. */
  first(streams: number): number {
    const share = Math.floor(BUDGET_BYTES / Math.max(1, streams));
    return this.take(FIRST_WINDOW_BYTES, Math.max(MIN_WINDOW_BYTES, Math.min(WINDOW_BYTES, share)));
  }

  /**
   * The window from now on of a stream that took half of `window` in `elapsedMs`: the double when that was within two
   * round trips, because then the sender waits for us and not for the line.
   */
  grown(window: number, elapsedMs: number): number {
    const { roundTripMs } = this;
    if (roundTripMs === null || elapsedMs > 2 * roundTripMs || window >= MAX_WINDOW_BYTES) return window;
    const next = Math.min(MAX_WINDOW_BYTES, window * 2);
    return this.granted + next - window > 2 * BUDGET_BYTES ? window : this.take(window, next);
  }

  release(window: number): void {
    this.granted -= window - FIRST_WINDOW_BYTES;
  }

  private take(before: number, window: number): number {
    this.granted += window - before;
    return window;
  }
}
