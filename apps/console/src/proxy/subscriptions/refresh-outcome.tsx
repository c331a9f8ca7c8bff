import type { RefreshResult, SkippedEntry, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { describeRefresh } from './describe-refresh.js';

const COLUMNS: readonly Column<SkippedEntry>[] = [
  { head: t('transfer.line'), cell: ({ line }) => line ?? '–', right: true },
  { head: t('common.name'), cell: ({ name }) => name ?? '–' },
  { head: t('words.reason'), cell: ({ message }) => <span title={message}>{message}</span>, grow: true },
];

/** What the last refresh did, and each entry that it left out. */
export function RefreshOutcome({ subscription, onClose }: { subscription: SubscriptionView; onClose: () => void }) {
  const api = useApi();
  const { data, error } = useResource(
    (signal) => api.get<RefreshResult>(`/subscriptions/${subscription.id}/refresh`, {}, signal),
    [subscription.id],
  );
  return (
    <Dialog title={t('subscriptions.resultTitle', { name: subscription.name })} onClose={onClose} wide>
      <Trouble error={error} waits={data === undefined} />
      {data && <Outcome result={data} />}
    </Dialog>
  );
}

function Outcome({ result }: { result: RefreshResult }) {
  return (
    <>
      <p class="strong">{describeRefresh(result)}</p>
      <Facts
        facts={[
          [t('subscriptions.httpStatus'), result.http_status],
          [
            t('subscriptions.received'),
            t('subscriptions.receivedIn', {
              bytes: formatBytes(result.bytes),
              duration: formatDuration(result.duration_ms),
              via: result.via,
            }),
          ],
          [
            t('words.entries'),
            t('subscriptions.entriesText', {
              parsed: result.parsed,
              duplicates: result.duplicates,
              ignored: result.ignored,
              skipped: result.skipped,
            }),
          ],
          [
            t('subscriptions.rules'),
            result.rules &&
              t('subscriptions.rulesText', {
                added: result.rules.added,
                kept: result.rules.kept,
                removed: result.rules.removed,
              }),
          ],
        ]}
      />
      {result.skipped_entries.length > 0 && (
        <Table
          caption={t('subscriptions.skipped')}
          columns={COLUMNS}
          rows={result.skipped_entries}
          rowKey={(entry) => `${entry.line} ${entry.name} ${entry.message}`}
          empty=""
        />
      )}
    </>
  );
}
