import type { KernelListenerView, KernelStatusView } from '@gatehouse/contracts';
import { Badge, Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { t } from '../messages/index.js';

type LeftOut = KernelStatusView['left_out'][number];

const LISTENERS: readonly Column<KernelListenerView>[] = [
  { head: t('common.name'), grow: true, cell: ({ name }) => <strong>{name}</strong> },
  { head: t('common.type'), cell: ({ type }) => type },
  { head: t('words.address'), cell: ({ address, port }) => <code>{`${address}:${port}`}</code> },
  {
    head: t('words.state'),
    cell: ({ state, error }) => (
      <>
        <Badge tone={state === 'listening' ? 'good' : 'bad'}>{t(`system.listenerStates.${state}`)}</Badge> {error}
      </>
    ),
  },
];

const LEFT_OUT: readonly Column<LeftOut>[] = [
  { head: t('words.node'), cell: ({ name, node_id }) => `${name} (n${node_id})` },
  { head: t('words.reason'), grow: true, cell: ({ reason }) => <span title={reason}>{reason}</span> },
];

/** Where the kernel listens, and which nodes it does not dial. */
export function KernelLists({ kernel }: { kernel: KernelStatusView }) {
  return (
    <>
      <Card title={t('system.listeners')}>
        <Table
          caption={t('system.listeners')}
          columns={LISTENERS}
          rows={kernel.listeners}
          rowKey={({ name }) => name}
          empty={t('common.none')}
        />
      </Card>
      {kernel.left_out_total > 0 && (
        <Card title={t('system.skippedNodesCount', { count: kernel.left_out_total })}>
          <Table
            caption={t('system.skippedNodes')}
            columns={LEFT_OUT}
            rows={kernel.left_out}
            rowKey={(row) => row.node_id}
            empty=""
          />
        </Card>
      )}
    </>
  );
}
