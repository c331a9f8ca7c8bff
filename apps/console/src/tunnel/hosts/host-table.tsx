import type { HostView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { hrefTo } from '../../shared/state/route.js';
import type { CursorWindow } from '../../shared/state/use-cursor-window.js';
import { t } from '../messages/index.js';
import { Flow } from '../parts/flow.js';
import { useGateway } from '../parts/gateway-context.js';
import type { NameOf } from '../parts/resource-names.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useMayWrite } from '../user-context.js';
import { HealthBadge } from './health-badge.js';
import { addressOf, nameOf } from './host-address.js';

export type HostAction = 'edit' | 'certificate' | 'remove';

interface HostTableProps {
  list: CursorWindow<HostView>;
  nameOfResource: NameOf;
  empty: ComponentChildren;
  onAction: (action: HostAction, host: HostView) => void;
}

export function HostTable({ list, nameOfResource, empty, onAction }: HostTableProps) {
  const actions = useMayWrite() ? actionsColumn(onAction) : undefined;
  const columns = [...columnsFor(list.reload, nameOfResource), ...(actions ? [actions] : [])];
  return (
    <VirtualTable
      caption={t('nav.hosts')}
      columns={columns}
      rows={list.rows}
      onEnd={list.onEnd}
      onView={list.onView}
      card={(host) => <HostCard {...{ host, nameOfResource }} reload={list.reload} actions={actions?.cell(host)} />}
      cardHeight={170}
      rowKey={({ id }) => id}
      rowClass={({ status }) => (status === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function columnsFor(reload: () => void, nameOfResource: NameOf): VirtualColumn<HostView>[] {
  return [
    {
      id: 'enabled',
      head: t('common.enabled'),
      quietHead: true,
      width: 60,
      cell: (host) => <HostSwitch host={host} reload={reload} />,
    },
    {
      id: 'domain',
      head: t('hosts.domain'),
      sort: 'host',
      width: 220,
      grow: 2,
      cell: (host) => (
        <>
          <HostAddress host={host} />
          <span class="second">
            {nameOfResource('client', host.client_id)} · <RequestsLink host={host} />
          </span>
        </>
      ),
    },
    { id: 'https', head: 'HTTPS', width: 120, cell: (host) => <CertificateBadge host={host} /> },
    {
      id: 'target',
      head: t('words.target'),
      width: 150,
      grow: 1,
      cell: (host) => (
        <>
          <code class="clipped" title={host.target_addr}>
            {host.target_addr}
          </code>
          <HealthBadge host={host} />
        </>
      ),
    },
    {
      id: 'traffic',
      width: 110,
      head: t('words.traffic'),
      sort: 'export_flow',
      cell: ({ inlet_flow, export_flow }) => <Flow inlet={inlet_flow} outlet={export_flow} />,
    },
  ];
}

function actionsColumn(onAction: HostTableProps['onAction']): VirtualColumn<HostView> {
  return {
    id: 'actions',
    width: 330,
    head: t('words.actions'),
    quietHead: true,
    right: true,
    cell: (host) => <Actions host={host} onAction={onAction} />,
  };
}

function HostSwitch({ host, reload }: { host: HostView; reload: () => void }) {
  return (
    <StatusSwitch
      path={`/hosts/${host.id}`}
      label={t('words.enabledName', { name: nameOf(host) })}
      value={host.status}
      reload={reload}
    />
  );
}

interface HostCardProps {
  host: HostView;
  nameOfResource: NameOf;
  reload: () => void;
  actions: ComponentChildren;
}

/** A host on a phone. */
function HostCard({ host, nameOfResource, reload, actions }: HostCardProps) {
  return (
    <>
      <div class="line">
        <HostAddress host={host} />
        <HostSwitch host={host} reload={reload} />
      </div>
      <span class="second">
        {`${nameOfResource('client', host.client_id)} → ${host.target_addr} · `}
        <RequestsLink host={host} />
      </span>
      <div class="line">
        <span>
          <Flow inlet={host.inlet_flow} outlet={host.export_flow} />
        </span>
        <span>
          <HealthBadge host={host} /> <span class="muted">HTTPS</span> <CertificateBadge host={host} />
        </span>
      </div>
      {actions}
    </>
  );
}

function RequestsLink({ host }: { host: HostView }) {
  return (
    <a href={hrefTo('requests', { host: host.id })} aria-label={t('requests.openName', { name: nameOf(host) })}>
      {t('requests.open')}
    </a>
  );
}

function HostAddress({ host }: { host: HostView }) {
  const address = addressOf(host, useGateway());
  if (address === null) return <strong>{nameOf(host)}</strong>;
  return (
    <span class="with-copy">
      <a href={address} target="_blank" rel="noopener noreferrer" class="clipped">
        {nameOf(host)}
      </a>
      <CopyButton text={address} what={t('tunnels.addressOf', { name: nameOf(host) })} />
    </span>
  );
}

function CertificateBadge({ host }: { host: HostView }) {
  if (host.scheme === 'http') return <span class="muted">–</span>;
  if (host.has_cert) return <Badge tone="good">{t('hosts.ownCertificate')}</Badge>;
  if (host.auto_https === 1) return <Badge tone="info">{t('hosts.automatic')}</Badge>;
  return (
    <Badge tone="none" title={t('hosts.noneHint')}>
      {t('common.none')}
    </Badge>
  );
}

function Actions({ host, onAction }: { host: HostView; onAction: (action: HostAction, host: HostView) => void }) {
  const name = nameOf(host);
  return (
    <RowActions>
      <a
        class="button small"
        href={hrefTo('published', { host: host.id })}
        aria-label={t('publishing.openName', { name })}
      >
        {t('checks.title')}
      </a>
      <RowAction label={t('hosts.certificateOf', { name })} onClick={() => onAction('certificate', host)}>
        {t('hosts.certificate')}
      </RowAction>
      <RowAction label={t('words.editName', { name })} onClick={() => onAction('edit', host)}>
        {t('common.edit')}
      </RowAction>
      <RowAction label={t('words.deleteName', { name })} danger onClick={() => onAction('remove', host)}>
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
  );
}
