import type { RefreshResult } from '@gatehouse/contracts';

const HEADS: Record<RefreshResult['status'], string> = {
  updated: 'updated',
  not_modified: 'nothing has changed',
  kept_previous: 'the nodes before were kept',
  failed: 'the refresh failed',
};

/** One line about what a refresh did. */
export function describeRefresh(result: RefreshResult): string {
  const head = HEADS[result.status];
  if (result.status !== 'updated') return result.message === null ? `${head}.` : `${head}: ${result.message}`;
  const { added, updated, retained, removed, skipped } = result;
  const left = skipped > 0 ? `, ${skipped} entries left out` : '';
  return `${head}: ${added} new, ${updated} changed, ${retained} as before, ${removed} gone${left}.`;
}
