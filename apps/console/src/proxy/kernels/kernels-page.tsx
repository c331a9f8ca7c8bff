import type { KernelListResponse, KernelView, KernelViewState, UnreachableKernel } from '@gatehouse/contracts';
import { Card, type BadgeTone } from '../../shared/components/page.js';
import { bold } from '../../shared/components/rich-text.js';
import { Table, type Column } from '../../shared/components/table.js';
import type { DataPlaneKind, PlaneState } from '../../shared/data-planes/data-plane.js';
import { DataPlanesPage } from '../../shared/data-planes/data-planes-page.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative } from '../../shared/format/times.js';
import { rich, t } from '../messages/index.js';

const TONES: Readonly<Record<KernelViewState, BadgeTone>> = {
  serving: 'good',
  draining: 'fair',
  waiting: 'fair',
  lost: 'bad',
};

const kernels = (): DataPlaneKind<KernelView, KernelListResponse> => ({
  path: '/kernels',
  title: t('nav.kernels'),
  empty: t('kernels.none'),
  everyMs: 3_000,
  addressesOf: ({ public_host: host, listeners }) =>
    listeners.map(({ type, address, port }) => ({ label: type, address: hostPort(host ?? address, port) })),
  stateOf,
  configurationOf: ({ current, error, generation }) => ({
    isNewest: current,
    note: error ?? t('system.generationText', { generation }),
  }),
  load: [
    {
      head: t('kernels.loopDelay'),
      right: true,
      cell: ({ loop_delay_ms: ms }) => (ms === null ? '–' : formatDuration(ms)),
    },
    { head: t('system.memory'), right: true, cell: ({ memory_bytes: memory }) => formatBytes(memory) },
    {
      head: t('connections.speed'),
      right: true,
      cell: ({ download_speed: down, upload_speed: up }) => (
        <span class="noted">
          <span>↓ {formatRate(down)}</span>
          <span>↑ {formatRate(up)}</span>
        </span>
      ),
    },
  ],
  // Only a separate kernel that this service reaches can be drained.
  actionOf: ({ reachable, address, state }) =>
    reachable && address !== null ? (state === 'draining' ? 'serve' : 'drain') : null,
  drainTitle: t('kernels.drainTitle'),
  drainText: (name) => rich('kernels.drainText', { name, b: bold }),
  below: ({ unreachable }) => <Unreachable kernels={unreachable} />,
});

/** The kernels that carry traffic, and which of them have the newest configuration. */
export function KernelsPage() {
  return <DataPlanesPage kind={kernels()} />;
}

function stateOf({ state, reachable, lease_until: lease }: KernelView): PlaneState {
  const elsewhere = state === 'lost' ? t('kernels.lostSince', { time: formatRelative(lease) }) : t('kernels.elsewhere');
  return { tone: TONES[state], text: t(`kernels.states.${state}`), note: reachable ? undefined : elsewhere };
}

const hostPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

function Unreachable({ kernels: rows }: { kernels: readonly UnreachableKernel[] }) {
  if (rows.length === 0) return null;
  const columns: readonly Column<UnreachableKernel>[] = [
    { head: t('words.address'), cell: ({ address }) => <code>{address}</code> },
    { head: t('words.reason'), grow: true, cell: ({ reason }) => reason },
  ];
  return (
    <Card title={t('kernels.unreachable')}>
      <Table
        caption={t('kernels.unreachable')}
        columns={columns}
        rows={rows}
        rowKey={({ address }) => address}
        empty=""
      />
    </Card>
  );
}
