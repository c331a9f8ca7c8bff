import { AppError } from '@gatehouse/platform';

/** The kernel's answer, or `otherwise` while it is down. */
export async function unlessDown<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return otherwise;
    throw error;
  }
}
