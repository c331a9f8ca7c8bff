/** What each side may send before it is granted more. */
export const FIRST_WINDOW_BYTES = 16 * 1024;
/** Window of an active stream among few others. */
const WINDOW_BYTES = 1024 * 1024;
const MIN_WINDOW_BYTES = 64 * 1024;
const MAX_WINDOW_BYTES = 16 * 1024 * 1024;
/** Approximate sum of all first windows; grown windows may take as much again. */
const BUDGET_BYTES = 32 * 1024 * 1024;

/**
 * Receive windows of the streams of one connection: the memory that stalled readers can cost. A window grows to twice
 * the bandwidth-delay product, as long as the sum stays within the budget.
 */
export class WindowBudget {
  private granted = 0;
  /** Round trip in milliseconds; null before it was measured. */
  roundTripMs: number | null = null;

  /** Window of a stream that becomes active, as one of `streams`. */
  first(streams: number): number {
    const share = Math.floor(BUDGET_BYTES / Math.max(1, streams));
    return this.take(FIRST_WINDOW_BYTES, Math.max(MIN_WINDOW_BYTES, Math.min(WINDOW_BYTES, share)));
  }

  /**
   * New window of a stream that consumed half of `window` in `elapsedMs`. It doubles if that took less than two round
   * trips, because then the sender waits for the window and not for the network.
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
