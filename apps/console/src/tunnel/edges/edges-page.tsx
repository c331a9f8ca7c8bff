import type { TunnelEdgeList, TunnelEdgeState, TunnelEdgeView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import { Confirm } from '../../shared/components/dialog.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { bold } from '../../shared/components/rich-text.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount, formatPercent } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { rich, t } from '../messages/index.js';

/** As often as edges say how they are. */
const EVERY_MS = 2_000;
const TONES: Readonly<Record<TunnelEdgeState, BadgeTone>> = {
  starting: 'info',
  serving: 'good',
  draining: 'fair',
  drained: 'none',
};

/** The data planes that share the database. */
export function EdgesPage() {
  const api = useApi();
  const [draining, setDraining] = useState<TunnelEdgeView | null>(null);
  const { data, error, reload } = useResource((signal) => api.get<TunnelEdgeList>('/edges', {}, signal), [], {
    everyMs: EVERY_MS,
  });
  return (
    <Page title={t('nav.edges')}>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('nav.edges')}
        columns={columnsFor(reload, setDraining)}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('edges.none')}
      />
      <p class="muted">{t('edges.explained')}</p>
      {draining && <Drain edge={draining} onClose={() => setDraining(null)} onDone={reload} />}
    </Page>
  );
}

function columnsFor(reload: () => void, onDrain: (edge: TunnelEdgeView) => void): Column<TunnelEdgeView>[] {
  return [
    {
      head: t('common.name'),
      grow: true,
      cell: (edge) => (
        <>
          <strong>{edge.name}</strong>
          <span class="second">{placeOf(edge)}</span>
        </>
      ),
    },
    { head: t('words.state'), cell: ({ state }) => <Badge tone={TONES[state]}>{t(`edges.states.${state}`)}</Badge> },
    { head: t('edges.load'), right: true, cell: ({ load }) => formatPercent(load) },
    { head: t('edges.agents'), right: true, cell: ({ agents }) => formatCount(agents) },
    { head: t('words.connections'), right: true, cell: ({ connections }) => formatCount(connections) },
    { head: t('edges.configuration'), cell: (edge) => <Configuration edge={edge} /> },
    {
      head: t('edges.since'),
      cell: ({ started_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (edge) => (edge.drain ? <ServeAgain edge={edge} reload={reload} /> : <DrainMore {...{ edge, onDrain }} />),
    },
  ];
}

/** Version, processes, and where it is reached. */
function placeOf({ version, processes, public_addresses: addresses }: TunnelEdgeView): string {
  const workers = new Set(processes.map(({ worker }) => worker)).size;
  return [
    version,
    ...(workers > 1 ? [t('edges.workers', { count: workers })] : []),
    ...(addresses ? [addresses.agents] : []),
  ].join(' · ');
}

function Configuration({ edge }: { edge: TunnelEdgeView }) {
  const title = t('edges.revision', { revision: edge.revision });
  return edge.up_to_date ? (
    <Badge tone="good" title={title}>
      {t('edges.upToDate')}
    </Badge>
  ) : (
    <Badge tone="fair" title={title}>
      {t('edges.behind')}
    </Badge>
  );
}

function DrainMore({ edge, onDrain }: { edge: TunnelEdgeView; onDrain: (edge: TunnelEdgeView) => void }) {
  return (
    <RowAction label={t('edges.drainName', { name: edge.name })} onClick={() => onDrain(edge)}>
      {t('edges.drainMore')}
    </RowAction>
  );
}

function ServeAgain({ edge, reload }: { edge: TunnelEdgeView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const serve = async (): Promise<void> => {
    await run(() => api.post(`/edges/${edge.id}/serve`), t('edges.servesAgain', { name: edge.name }));
    reload();
  };
  return (
    <RowAction label={t('edges.serveName', { name: edge.name })} disabled={busy} onClick={() => void serve()}>
      {t('edges.serve')}
    </RowAction>
  );
}

interface DrainProps {
  edge: TunnelEdgeView;
  onClose: () => void;
  onDone: () => void;
}

function Drain({ edge: { id, name }, onClose, onDone }: DrainProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const drain = (): Promise<boolean> =>
    run(
      async () => {
        await api.post(`/edges/${id}/drain`);
        onDone();
        onClose();
      },
      t('edges.drains', { name }),
    );
  return (
    <Confirm
      title={t('edges.drainTitle')}
      action={t('edges.drain')}
      busy={busy}
      onConfirm={() => void drain()}
      onClose={onClose}
    >
      <p>{rich('edges.drainText', { name, b: bold })}</p>
    </Confirm>
  );
}
