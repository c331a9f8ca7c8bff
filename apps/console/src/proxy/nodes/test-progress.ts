import type { JobStatusName, JobView, SpeedTestProgress } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

export function isOver({ status }: Pick<JobView, 'status'>): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** One line about a test of many nodes. */
export function describeTest(status: JobStatusName, progress: SpeedTestProgress | null, error: string | null): string {
  const state = t(`nodes.testStates.${status}`);
  if (error !== null) return t('nodes.testFailed', { state, error });
  if (progress === null) return t('nodes.testState', { state });
  const { tested, total, ok, failed, skipped } = progress;
  return t('nodes.testProgress', { state, tested, total, ok, failed, skipped });
}
