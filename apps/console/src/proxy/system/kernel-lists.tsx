import type { KernelListenerView, KernelStatusView } from '@gatehouse/contracts';
import { Badge, Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';

type LeftOut = KernelStatusView['left_out'][number];

const LISTENERS: readonly Column<KernelListenerView>[] = [
  { head: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  { head: 'Type', cell: ({ type }) => type },
  { head: 'Address', cell: ({ address, port }) => <code>{`${address}:${port}`}</code> },
  {
    head: 'State',
    grow: true,
    cell: ({ state, error }) => (
      <>
        <Badge tone={state === 'listening' ? 'good' : 'bad'}>{state}</Badge> {error}
      </>
    ),
  },
];

const LEFT_OUT: readonly Column<LeftOut>[] = [
  { head: 'Node', cell: ({ name, node_id }) => `${name} (n${node_id})` },
  { head: 'Why', grow: true, cell: ({ reason }) => <span title={reason}>{reason}</span> },
];

/** Where the kernel listens, and which nodes it does not dial. */
export function KernelLists({ kernel }: { kernel: KernelStatusView }) {
  return (
    <>
      <Card title="Listeners">
        <Table
          caption="Listeners"
          columns={LISTENERS}
          rows={kernel.listeners}
          rowKey={({ name }) => name}
          empty="None."
        />
      </Card>
      {kernel.left_out_total > 0 && (
        <Card title={`Nodes left out (${formatCount(kernel.left_out_total)})`}>
          <Table
            caption="Nodes left out"
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
