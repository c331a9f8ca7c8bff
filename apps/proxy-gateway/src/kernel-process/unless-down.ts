import { AppError } from '@gatehouse/platform';

/** What the kernel says, or `otherwise` while there is none to ask. */
export async function unlessDown<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return otherwise;
    throw error;
  }
}
