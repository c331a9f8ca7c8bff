/** The kernel is not running, died before it answered, or did not answer in time. */
export class KernelUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KernelUnavailableError';
  }
}
