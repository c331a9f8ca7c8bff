import { AppError } from '@gatehouse/platform';

/** An invalid field, with a message that says what would be right. */
export function fieldError(field: string, message: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `${field}: ${message}`, { details: [{ field, message }], cause });
}

/** Runs a parser of a field; its error becomes the answer. */
export function readField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw fieldError(field, error.message, error);
    throw error;
  }
}
