import type { HostRequestView } from '@gatehouse/contracts';
import { Badge } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { formatMs, StatusBadge } from './request-parts.js';

interface RequestTableProps {
  /** Undefined: not read yet. */
  requests: readonly HostRequestView[] | undefined;
  empty: string;
  onOpen: (request: HostRequestView) => void;
}

export function RequestTable({ requests, empty, onOpen }: RequestTableProps) {
  return (
    <Table
      caption={t('words.requests')}
      columns={columnsFor(onOpen)}
      rows={requests}
      rowKey={({ id }) => id}
      empty={empty}
    />
  );
}

const columnsFor = (onOpen: RequestTableProps['onOpen']): Column<HostRequestView>[] => [
  { head: t('common.status'), cell: (request) => <StatusBadge request={request} /> },
  {
    head: t('requests.request'),
    grow: true,
    cell: (request) => (
      <button type="button" class="quiet" onClick={() => onOpen(request)}>
        <code class="wrapped">{`${request.method} ${request.path}`}</code>
        {request.replay_of !== null && <Badge tone="info">{t('requests.isReplay')}</Badge>}
      </button>
    ),
  },
  {
    head: t('requests.visitor'),
    cell: ({ visitor_ip: visitor, edge }) => (
      <>
        <code>{visitor}</code>
        {edge !== null && <span class="second">{edge}</span>}
      </>
    ),
  },
  { head: t('requests.duration'), right: true, cell: ({ ended_ms: ended }) => formatMs(ended) },
  { head: t('requests.size'), right: true, cell: ({ answer_body_bytes: bytes }) => formatBytes(bytes) },
  {
    head: t('common.time'),
    cell: ({ started_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
  },
];
