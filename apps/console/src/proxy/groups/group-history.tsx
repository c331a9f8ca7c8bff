import type { GroupHistory, GroupSwitchRecord } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { switchReason } from './switch-reason.js';

const COLUMNS: readonly Column<GroupSwitchRecord>[] = [
  { head: t('common.time'), cell: ({ at }) => formatTime(at) },
  { head: t('groups.from'), cell: ({ from }) => from ?? '–' },
  { head: t('groups.to'), cell: ({ to }) => to, grow: true },
  { head: t('words.reason'), cell: ({ reason }) => switchReason(reason) },
  { head: t('groups.closed'), cell: (record) => formatCount(record.closed_connections), right: true },
];

export function GroupHistoryDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const api = useApi();
  const [page, setPage] = useState({ limit: 25, offset: 0 });
  const { data, error } = useResource(
    (signal) => api.get<GroupHistory>(`/outbound/groups/${segment(name)}/history`, page, signal),
    [name, page],
  );
  return (
    <Dialog title={t('groups.switchesOf', { name })} onClose={onClose} wide>
      <Trouble error={error} />
      <Table
        caption={t('groups.switches')}
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('groups.noSwitches')}
      />
      {data && <Pager label={t('groups.switches')} {...data} onChange={setPage} />}
    </Dialog>
  );
}
