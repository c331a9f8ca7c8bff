import type { RefreshResult, SkippedEntry, SubscriptionView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatDuration } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { describeRefresh } from './describe-refresh.js';

const COLUMNS: readonly Column<SkippedEntry>[] = [
  { head: 'Line', cell: ({ line }) => line ?? '–', right: true },
  { head: 'Name', cell: ({ name }) => name ?? '–' },
  { head: 'Why it was left out', cell: ({ message }) => <span title={message}>{message}</span>, grow: true },
];

/** What the last refresh did, and each entry that it left out. */
export function RefreshOutcome({ subscription, onClose }: { subscription: SubscriptionView; onClose: () => void }) {
  const api = useApi();
  const { data, error } = useResource(
    (signal) => api.get<RefreshResult>(`/subscriptions/${subscription.id}/refresh`, {}, signal),
    [subscription.id],
  );
  return (
    <Dialog title={`Last refresh of ${subscription.name}`} onClose={onClose} wide>
      <Trouble error={error} />
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
          ['HTTP status', result.http_status],
          ['Received', `${formatBytes(result.bytes)} in ${formatDuration(result.duration_ms)}, ${result.via}`],
          [
            'Entries',
            `${result.parsed} nodes, ${result.duplicates} duplicates, ${result.ignored} notices, ${result.skipped} left out`,
          ],
          [
            'Rules',
            result.rules && `${result.rules.added} new, ${result.rules.kept} as before, ${result.rules.removed} gone`,
          ],
        ]}
      />
      {result.skipped_entries.length > 0 && (
        <Table
          caption="Entries left out"
          columns={COLUMNS}
          rows={result.skipped_entries}
          rowKey={(entry) => `${entry.line} ${entry.name} ${entry.message}`}
          empty=""
        />
      )}
    </>
  );
}
