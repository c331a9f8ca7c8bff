import { Badge } from '../components/page.js';
import { RowAction } from '../components/row-actions.js';
import type { Column } from '../components/table.js';
import { formatCount } from '../format/amounts.js';
import { formatRelative, formatTime } from '../format/times.js';
import { t } from '../messages/index.js';
import type { DataPlane, DataPlaneKind, DataPlaneList, PlaneConfiguration, PlaneState } from './data-plane.js';
import { ServeAgain } from './serve-again.js';

interface Actions<P> {
  reload: () => void;
  onDrain: (plane: P) => void;
}

export function columnsOf<P extends DataPlane, L extends DataPlaneList<P>>(
  kind: DataPlaneKind<P, L>,
  { reload, onDrain }: Actions<P>,
): Column<P>[] {
  const { stateOf, configurationOf, load, actionOf, path } = kind;
  return [
    {
      head: t('common.name'),
      grow: true,
      cell: (plane) => <Name {...{ kind, plane }} />,
    },
    { head: t('common.status'), cell: (plane) => <State state={stateOf(plane)} since={plane.started_at} /> },
    ...load,
    { head: t('dataPlanes.connections'), right: true, cell: ({ connections }) => formatCount(connections) },
    { head: t('dataPlanes.configuration'), cell: (plane) => <Configuration configuration={configurationOf(plane)} /> },
    {
      head: t('dataPlanes.actions'),
      quietHead: true,
      right: true,
      cell: (plane) => {
        const action = actionOf(plane);
        if (action === null) return null;
        if (action === 'serve') return <ServeAgain {...{ path, plane, reload }} />;
        return (
          <RowAction label={t('dataPlanes.drainName', { name: plane.name })} onClick={() => onDrain(plane)}>
            {t('dataPlanes.drainMore')}
          </RowAction>
        );
      },
    },
  ];
}

function Name<P extends DataPlane, L extends DataPlaneList<P>>({
  kind: { details, addressesOf },
  plane,
}: {
  kind: DataPlaneKind<P, L>;
  plane: P;
}) {
  return (
    <span class="plane">
      <strong>{plane.name}</strong>
      <span class="second">{[plane.version, ...(details?.(plane) ?? [])].join(' · ')}</span>
      {addressesOf(plane).map(({ label, address }) => (
        <span key={address} class="second" title={`${label} ${address}`}>
          {label} <code>{address}</code>
        </span>
      ))}
    </span>
  );
}

function State({ state: { tone, text, note }, since }: { state: PlaneState; since: string | null }) {
  return (
    <span class="noted roomy">
      <Badge tone={tone}>{text}</Badge>
      {note !== undefined && <span class="second">{note}</span>}
      {since !== null && (
        <span class="second" title={formatTime(since)}>
          {t('dataPlanes.started', { time: formatRelative(since) })}
        </span>
      )}
    </span>
  );
}

function Configuration({ configuration: { isNewest, note } }: { configuration: PlaneConfiguration }) {
  return (
    <span class="noted roomy">
      <Badge tone={isNewest ? 'good' : 'fair'}>{t(isNewest ? 'dataPlanes.newest' : 'dataPlanes.outdated')}</Badge>
      <span class="second">{note}</span>
    </span>
  );
}
