/** The kernel is not running, died with the question open, or did not answer in time. */
export class KernelUnavailableError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KernelUnavailableError';
  }
}
