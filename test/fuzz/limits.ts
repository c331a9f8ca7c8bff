/** What an input may cost, in every target. */

export const MAX_INPUT = 16 * 1024;
/** CPU, not the clock: other work on the machine is not the parser's. */
export const MAX_CPU_MS = 100;
export const MAX_MEMORY_MB = 200;

export interface ThreadOptions {
  target: string;
  seed: number;
  /** Inputs that broke something once. */
  corpus: readonly Uint8Array[];
  /** Length, then bytes of the input at work. */
  current: SharedArrayBuffer;
  /** Inputs done. */
  count: SharedArrayBuffer;
}
