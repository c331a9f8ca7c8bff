import type { TunnelView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { VirtualTable, type VirtualColumn } from '../../shared/components/virtual-table.js';
import { hrefTo } from '../../shared/state/route.js';
import type { CursorWindow } from '../../shared/state/use-cursor-window.js';
import { t } from '../messages/index.js';
import { Flow } from '../parts/flow.js';
import { quotaText, UsedUp } from '../parts/quota-fields.js';
import type { NameOf } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { StartStop } from './start-stop.js';
import { addressOf } from './tunnel-address.js';
import { TUNNEL_MODES } from './tunnel-modes.js';
import { nameOf } from './tunnel-name.js';
import { stateOf } from './tunnel-state.js';

export type TunnelAction = 'edit' | 'remove' | 'rotate';

interface TunnelTableProps {
  list: CursorWindow<TunnelView>;
  nameOfResource: NameOf;
  empty: ComponentChildren;
  onAction: (action: TunnelAction, tunnel: TunnelView) => void;
}

export function TunnelTable({ list, nameOfResource, empty, onAction }: TunnelTableProps) {
  const actions = useMayWrite() ? actionsColumn(list.reload, onAction) : undefined;
  const columns = [...columnsFor(nameOfResource), ...(actions ? [actions] : [])];
  return (
    <VirtualTable
      caption={t('nav.tunnels')}
      columns={columns}
      rows={list.rows}
      onEnd={list.onEnd}
      onView={list.onView}
      card={(tunnel) => <TunnelCard tunnel={tunnel} nameOfResource={nameOfResource} actions={actions?.cell(tunnel)} />}
      cardHeight={196}
      rowKey={({ id }) => id}
      rowClass={({ status }) => (status === 1 ? '' : 'faint')}
      sort={list.sort}
      onSort={list.setSort}
      empty={empty}
    />
  );
}

function columnsFor(nameOfResource: NameOf): VirtualColumn<TunnelView>[] {
  return [
    {
      id: 'state',
      head: t('words.state'),
      sort: 'run_status',
      width: 90,
      cell: (tunnel) => <TunnelState tunnel={tunnel} />,
    },
    {
      id: 'name',
      head: t('kinds.tunnel'),
      sort: 'name',
      width: 180,
      grow: 2,
      cell: (tunnel) => <TunnelName tunnel={tunnel} nameOfResource={nameOfResource} />,
    },
    {
      id: 'route',
      head: t('tunnels.route'),
      sort: 'listen_port',
      width: 220,
      grow: 2,
      cell: (tunnel) => <Way tunnel={tunnel} />,
    },
    {
      id: 'traffic',
      width: 100,
      head: t('words.traffic'),
      sort: 'export_flow',
      cell: (tunnel) => <Traffic tunnel={tunnel} />,
    },
  ];
}

function actionsColumn(reload: () => void, onAction: TunnelTableProps['onAction']): VirtualColumn<TunnelView> {
  return {
    id: 'actions',
    width: 384,
    head: t('words.actions'),
    quietHead: true,
    right: true,
    cell: (tunnel) => <TunnelActions tunnel={tunnel} reload={reload} onAction={onAction} />,
  };
}

function TunnelState({ tunnel }: { tunnel: TunnelView }) {
  const { tone, text, title } = stateOf(tunnel);
  if (tunnel.quota_used_up && tunnel.status === 1) return <UsedUp view={tunnel} />;
  return (
    <Badge tone={tone} title={title}>
      {text}
    </Badge>
  );
}

function TunnelName({ tunnel, nameOfResource }: { tunnel: TunnelView; nameOfResource: NameOf }) {
  const about = `${TUNNEL_MODES[tunnel.mode].label} · ${nameOfResource('client', tunnel.client_id)}`;
  return (
    <>
      <strong>{nameOf(tunnel)}</strong>
      {tunnel.run_status === 3 ? (
        <span class="second problem" title={stateOf(tunnel).title}>
          {stateOf(tunnel).title}
        </span>
      ) : (
        <span class="second">{about}</span>
      )}
    </>
  );
}

/** Where visitors go, and where that leads. */
function Way({ tunnel }: { tunnel: TunnelView }) {
  const { mode, target_addr: target } = tunnel;
  const address = addressOf(tunnel, location.hostname);
  const end = target === '' && !TUNNEL_MODES[mode].target.required ? t('tunnels.allAllowed') : target;
  return (
    <>
      {address === null ? (
        <span class="muted">{t('tunnels.byKey')}</span>
      ) : (
        <span class="with-copy">
          <code>{address}</code>
          <CopyButton text={address} what={t('tunnels.addressOf', { name: nameOf(tunnel) })} />
        </span>
      )}
      <span class="second way" title={end}>
        <span aria-hidden="true">→ </span>
        <span class="hidden">{t('tunnels.leadsTo')} </span>
        {end}
      </span>
    </>
  );
}

function Traffic({ tunnel }: { tunnel: TunnelView }) {
  return (
    <>
      <Flow inlet={tunnel.inlet_flow} outlet={tunnel.export_flow} />
      {tunnel.traffic_quota > 0 && <span class="second">{quotaText(tunnel)}</span>}
    </>
  );
}

interface TunnelCardProps {
  tunnel: TunnelView;
  nameOfResource: NameOf;
  actions: ComponentChildren;
}

/** A tunnel on a phone. */
function TunnelCard({ tunnel, nameOfResource, actions }: TunnelCardProps) {
  return (
    <>
      <div class="line">
        <span>
          <TunnelName tunnel={tunnel} nameOfResource={nameOfResource} />
        </span>
        <TunnelState tunnel={tunnel} />
      </div>
      <Way tunnel={tunnel} />
      <div class="line">
        <span>
          <Traffic tunnel={tunnel} />
        </span>
      </div>
      {actions}
    </>
  );
}

interface TunnelActionsProps {
  tunnel: TunnelView;
  reload: () => void;
  onAction: (action: TunnelAction, tunnel: TunnelView) => void;
}

function TunnelActions({ tunnel, reload, onAction }: TunnelActionsProps) {
  const name = nameOf(tunnel);
  return (
    <RowActions>
      <a
        class="button small"
        href={hrefTo('published', { tunnel: tunnel.id })}
        aria-label={t('publishing.openName', { name })}
      >
        {t('checks.title')}
      </a>
      <StartStop tunnel={tunnel} reload={reload} />
      {!TUNNEL_MODES[tunnel.mode].hasPort && (
        <RowAction label={t('tunnels.newKeyFor', { name })} onClick={() => onAction('rotate', tunnel)}>
          {t('clients.newKey')}
        </RowAction>
      )}
      <RowAction label={t('words.editName', { name })} onClick={() => onAction('edit', tunnel)}>
        {t('common.edit')}
      </RowAction>
      <RowAction label={t('words.deleteName', { name })} danger onClick={() => onAction('remove', tunnel)}>
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
  );
}
