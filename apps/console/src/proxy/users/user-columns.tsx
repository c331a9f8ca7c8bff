import type { ProxyUserStatus, ProxyUserView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import { Meter } from '../../shared/components/meter.js';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import type { Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';

/** What the buttons of a row open. */
export type UserAction = 'edit' | 'address' | 'reset' | 'remove';

const TONES: Readonly<Record<ProxyUserStatus, BadgeTone>> = {
  active: 'good',
  disabled: 'none',
  expired: 'bad',
  used_up: 'bad',
  not_in_mihomo: 'fair',
};
/** From here on the meter warns. */
const NEARLY = 0.9;

export function userColumns(onOpen: (action: UserAction, user: ProxyUserView) => void): Column<ProxyUserView>[] {
  return [
    {
      head: t('common.name'),
      grow: true,
      cell: ({ name, note }) => (
        <span class="noted">
          <strong>{name}</strong>
          {note !== '' && <span class="second">{note}</span>}
        </span>
      ),
    },
    {
      head: t('words.state'),
      cell: ({ status }) => <Badge tone={TONES[status]}>{t(`proxyUsers.statuses.${status}`)}</Badge>,
    },
    { head: t('proxyUsers.traffic'), cell: (user) => <Traffic user={user} /> },
    { head: t('nav.connections'), right: true, cell: (user) => <Connections user={user} /> },
    {
      head: t('proxyUsers.speed'),
      right: true,
      cell: ({ upload_speed: up, download_speed: down }) =>
        up === null || down === null ? '–' : formatRate(up + down),
    },
    { head: t('common.lastUsed'), cell: ({ last_used_at: at }) => <Time at={at} /> },
    {
      head: t('common.expires'),
      cell: ({ expires_at: at }) => (at === null ? t('common.never') : <Time at={at} />),
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (user) => <Actions user={user} onOpen={onOpen} />,
    },
  ];
}

function Time({ at }: { at: string | null }) {
  return <span title={at === null ? '' : formatTime(at)}>{formatRelative(at)}</span>;
}

function Traffic({ user }: { user: ProxyUserView }) {
  const { name, period_traffic: used, traffic_quota: quota, quota_period: period } = user;
  if (quota === null) return <>{formatBytes(user.upload_total + user.download_total)}</>;
  const ratio = used / quota;
  return (
    <span class="noted">
      <Meter
        label={t('proxyUsers.quotaOf', { name })}
        ratio={ratio}
        tone={ratio >= 1 ? 'bad' : ratio >= NEARLY ? 'fair' : 'info'}
      />
      <span class="second">
        {t(`proxyUsers.usedOf.${period}`, { used: formatBytes(used), quota: formatBytes(quota) })}
      </span>
    </span>
  );
}

function Connections({ user: { connections, max_connections: most } }: { user: ProxyUserView }) {
  if (connections === null) return <>–</>;
  return <>{most === null ? formatCount(connections) : `${formatCount(connections)} / ${formatCount(most)}`}</>;
}

function Actions({ user, onOpen }: { user: ProxyUserView; onOpen: (action: UserAction, user: ProxyUserView) => void }) {
  const { name } = user;
  return (
    <RowActions>
      <RowAction label={t('proxyUsers.addressName', { name })} onClick={() => onOpen('address', user)}>
        {t('words.address')}
      </RowAction>
      <RowAction label={t('proxyUsers.editTitle', { name })} onClick={() => onOpen('edit', user)}>
        {t('common.edit')}
      </RowAction>
      {user.traffic_quota !== null && (
        <RowAction label={t('proxyUsers.resetName', { name })} onClick={() => onOpen('reset', user)}>
          {t('proxyUsers.resetMore')}
        </RowAction>
      )}
      <RowAction label={t('proxyUsers.deleteName', { name })} danger onClick={() => onOpen('remove', user)}>
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
  );
}
