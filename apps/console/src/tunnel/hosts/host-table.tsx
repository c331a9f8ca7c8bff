import type { HostView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import type { CursorList } from '../../shared/state/use-cursor-list.js';
import { Flow } from '../parts/flow.js';
import { useGateway } from '../parts/gateway-context.js';
import type { NameOf } from '../parts/resource-names.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { addressOf, nameOf } from './host-address.js';

export type HostDeed = 'edit' | 'certificate' | 'remove';

interface HostTableProps {
  list: CursorList<HostView>;
  nameOfResource: NameOf;
  empty: ComponentChildren;
  onDeed: (deed: HostDeed, host: HostView) => void;
}

export function HostTable({ list, nameOfResource, empty, onDeed }: HostTableProps) {
  const columns = [...columnsFor(list.reload, nameOfResource), ...(useMayWrite() ? [actionsColumn(onDeed)] : [])];
  return (
    <Table
      caption="Hosts"
      columns={columns}
      rows={list.rows}
      rowKey={({ id }) => id}
      rowClass={({ status }) => (status === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function columnsFor(reload: () => void, nameOfResource: NameOf): Column<HostView>[] {
  return [
    {
      head: 'Enabled',
      quietHead: true,
      cell: (host) => (
        <StatusSwitch
          path={`/hosts/${host.id}`}
          label={`${nameOf(host)} enabled`}
          value={host.status}
          reload={reload}
        />
      ),
    },
    {
      head: 'Host',
      sort: 'host',
      grow: true,
      cell: (host) => (
        <>
          <HostAddress host={host} />
          <span class="second">{nameOfResource('client', host.client_id)}</span>
        </>
      ),
    },
    { head: 'https', cell: (host) => <CertificateBadge host={host} /> },
    {
      head: 'Leads to',
      cell: ({ target_addr: target }) => (
        <code class="clipped" title={target}>
          {target}
        </code>
      ),
    },
    {
      head: 'Traffic',
      sort: 'export_flow',
      cell: ({ inlet_flow, export_flow }) => <Flow inlet={inlet_flow} outlet={export_flow} />,
    },
  ];
}

function actionsColumn(onDeed: HostTableProps['onDeed']): Column<HostView> {
  return { head: 'Actions', quietHead: true, right: true, cell: (host) => <Actions host={host} onDeed={onDeed} /> };
}

function HostAddress({ host }: { host: HostView }) {
  const address = addressOf(host, useGateway());
  if (address === null) return <strong>{nameOf(host)}</strong>;
  return (
    <span class="with-copy">
      <a href={address} target="_blank" rel="noopener noreferrer" class="clipped">
        {nameOf(host)}
      </a>
      <CopyButton text={address} what={`Address of ${nameOf(host)}`} />
    </span>
  );
}

function CertificateBadge({ host }: { host: HostView }) {
  if (host.scheme === 'http') return <span class="muted">–</span>;
  if (host.has_cert) return <Badge tone="good">own certificate</Badge>;
  if (host.auto_https === 1) return <Badge tone="info">automatic</Badge>;
  return (
    <Badge tone="none" title="Without a certificate, visitors by https get the default one or none">
      none
    </Badge>
  );
}

function Actions({ host, onDeed }: { host: HostView; onDeed: (deed: HostDeed, host: HostView) => void }) {
  const name = nameOf(host);
  return (
    <RowActions>
      <RowAction label={`Certificate of ${name}`} onClick={() => onDeed('certificate', host)}>
        Certificate
      </RowAction>
      <RowAction label={`Edit ${name}`} onClick={() => onDeed('edit', host)}>
        Edit
      </RowAction>
      <RowAction label={`Delete ${name}`} danger onClick={() => onDeed('remove', host)}>
        Delete …
      </RowAction>
    </RowActions>
  );
}
