import { JobFailedError, JobTimeoutError } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';

/** Messages for a request that waited for a job: one for a job that still runs, one for a job that failed. */
export interface JobFailureTexts {
  late: string;
  failed: string;
}

/**
 * The error to throw when waiting for a job failed: UPSTREAM_TIMEOUT, or INTERNAL for an unexpected failure. A
 * temporary failure stays as it is and becomes SERVICE_UNAVAILABLE with the time for a retry.
 */
export function jobFailure(error: unknown, { late, failed }: JobFailureTexts): unknown {
  if (error instanceof JobTimeoutError) return new AppError('UPSTREAM_TIMEOUT', late, { cause: error });
  if (!(error instanceof JobFailedError) || error.temporary) return error;
  return new AppError('INTERNAL', failed, { cause: error });
}

export const REFRESH_FAILURE: JobFailureTexts = {
  late: 'The refresh is still running.',
  failed: 'The refresh failed.',
};
