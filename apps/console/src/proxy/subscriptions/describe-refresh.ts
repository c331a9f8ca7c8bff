import type { RefreshResult } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

/** One line about what a refresh did. */
export function describeRefresh(result: RefreshResult): string {
  const { status, added, updated, retained, removed, skipped } = result;
  const message = result.message ?? '';
  switch (status) {
    case 'updated':
      return t('subscriptions.results.updated', { added, updated, retained, removed, skipped });
    case 'not_modified':
      return t('subscriptions.results.not_modified');
    case 'kept_previous':
      return t('subscriptions.results.kept_previous', { message });
    case 'failed':
      return t('subscriptions.results.failed', { message });
  }
}
