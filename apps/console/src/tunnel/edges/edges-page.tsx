import type { TunnelEdgeList, TunnelEdgeState, TunnelEdgeView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import { bold } from '../../shared/components/rich-text.js';
import type { DataPlaneKind } from '../../shared/data-planes/data-plane.js';
import { DataPlanesPage } from '../../shared/data-planes/data-planes-page.js';
import { formatCount, formatPercent } from '../../shared/format/amounts.js';
import { rich, t } from '../messages/index.js';

const TONES: Readonly<Record<TunnelEdgeState, BadgeTone>> = {
  starting: 'info',
  serving: 'good',
  draining: 'fair',
  drained: 'none',
};

const edges = (): DataPlaneKind<TunnelEdgeView, TunnelEdgeList> => ({
  path: '/edges',
  title: t('nav.edges'),
  empty: t('edges.none'),
  everyMs: 2_000,
  details: ({ processes }) => {
    const workers = new Set(processes.map(({ worker }) => worker)).size;
    return workers > 1 ? [t('edges.workers', { count: workers })] : [];
  },
  addressesOf: ({ public_addresses: addresses }) =>
    addresses
      ? [
          { label: t('edges.agents'), address: addresses.agents },
          { label: 'HTTP', address: addresses.http },
          { label: 'HTTPS', address: addresses.https },
        ]
      : [],
  stateOf: ({ state }) => ({ tone: TONES[state], text: t(`edges.states.${state}`) }),
  configurationOf: ({ up_to_date: isNewest, revision }) => ({ isNewest, note: t('edges.revision', { revision }) }),
  load: [
    { head: t('edges.load'), right: true, cell: ({ load }) => formatPercent(load) },
    { head: t('edges.agents'), right: true, cell: ({ agents }) => formatCount(agents) },
  ],
  actionOf: ({ drain }) => (drain ? 'serve' : 'drain'),
  drainTitle: t('edges.drainTitle'),
  drainText: (name) => rich('edges.drainText', { name, b: bold }),
  below: () => <p class="muted">{t('edges.explained')}</p>,
});

/** The data planes that share the database. */
export function EdgesPage() {
  return <DataPlanesPage kind={edges()} />;
}
