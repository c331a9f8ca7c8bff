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
  const { details, addressesOf, stateOf, configurationOf, load, actionOf, path } = kind;
  return [
    {
      head: t('common.name'),
      grow: true,
      cell: (plane) => (
        <>
          <strong>{plane.name}</strong>
          <span class="second">{[plane.version, ...(details?.(plane) ?? [])].join(' · ')}</span>
        </>
      ),
    },
    { head: t('common.status'), cell: (plane) => <State state={stateOf(plane)} /> },
    { head: t('dataPlanes.addresses'), cell: (plane) => <Addresses addresses={addressesOf(plane)} /> },
    ...load,
    { head: t('dataPlanes.connections'), right: true, cell: ({ connections }) => formatCount(connections) },
    { head: t('dataPlanes.configuration'), cell: (plane) => <Configuration configuration={configurationOf(plane)} /> },
    { head: t('dataPlanes.started'), cell: ({ started_at: at }) => <Since at={at} /> },
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

function State({ state: { tone, text, note } }: { state: PlaneState }) {
  return (
    <span class="noted">
      <Badge tone={tone}>{text}</Badge>
      {note !== undefined && <span class="second">{note}</span>}
    </span>
  );
}

function Addresses({ addresses }: { addresses: readonly string[] }) {
  if (addresses.length === 0) return <>–</>;
  return (
    <span class="noted">
      {addresses.map((address) => (
        <code key={address}>{address}</code>
      ))}
    </span>
  );
}

function Configuration({ configuration: { isNewest, note } }: { configuration: PlaneConfiguration }) {
  return (
    <span class="noted">
      <Badge tone={isNewest ? 'good' : 'fair'}>{t(isNewest ? 'dataPlanes.newest' : 'dataPlanes.outdated')}</Badge>
      <span class="second">{note}</span>
    </span>
  );
}

function Since({ at }: { at: string | null }) {
  return at === null ? <>–</> : <span title={formatTime(at)}>{formatRelative(at)}</span>;
}
