import type { KernelListResponse, KernelView, KernelViewState } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Card, Page, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount, formatRate } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';

const REFRESH_MS = 3_000;

const TONES: Record<KernelViewState, BadgeTone> = { serving: 'good', draining: 'fair', waiting: 'fair', lost: 'bad' };

/** The kernels that carry traffic, and which of them have the newest configuration. */
export function KernelsPage() {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.get<KernelListResponse>('/kernels', {}, signal), [], {
    everyMs: REFRESH_MS,
  });
  return (
    <Page title={t('nav.kernels')}>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('nav.kernels')}
        columns={columnsOf(reload)}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('kernels.none')}
      />
      {data && data.unreachable.length > 0 && (
        <Card title={t('kernels.unreachable')}>
          <Table
            caption={t('kernels.unreachable')}
            columns={UNREACHABLE}
            rows={data.unreachable}
            rowKey={({ address }) => address}
            empty=""
          />
        </Card>
      )}
    </Page>
  );
}

const UNREACHABLE: readonly Column<KernelListResponse['unreachable'][number]>[] = [
  { head: t('words.address'), cell: ({ address }) => <code>{address}</code> },
  { head: t('words.reason'), grow: true, cell: ({ reason }) => reason },
];

function columnsOf(reload: () => void): Column<KernelView>[] {
  return [
    { head: t('common.name'), cell: (kernel) => <Name kernel={kernel} /> },
    { head: t('words.state'), cell: (kernel) => <State kernel={kernel} /> },
    { head: t('system.generation'), grow: true, cell: (kernel) => <Configuration kernel={kernel} /> },
    { head: t('words.connections'), cell: ({ connections }) => formatCount(connections) },
    {
      head: t('connections.speed'),
      cell: ({ download_speed: down, upload_speed: up }) => `↓ ${formatRate(down)} ↑ ${formatRate(up)}`,
    },
    { head: t('system.memory'), cell: ({ memory_bytes: memory }) => formatBytes(memory) },
    {
      head: t('kernels.loopDelay'),
      cell: ({ loop_delay_ms: delay }) => (delay === null ? '–' : formatDuration(delay)),
    },
    { head: t('words.actions'), cell: (kernel) => <DrainButton kernel={kernel} onDone={reload} /> },
  ];
}

function Name({
  kernel: { name, version, public_host: host, listeners, started_at: started },
}: {
  kernel: KernelView;
}) {
  const places = listeners.map(({ address, port }) => `${address}:${port}`);
  return (
    <>
      <strong>{name}</strong>
      <span class="second" title={formatTime(started)}>
        {[version, host ?? places[0]].filter(Boolean).join(' · ')}
      </span>
    </>
  );
}

function State({ kernel: { state, reachable, lease_until: lease } }: { kernel: KernelView }) {
  return (
    <>
      <Badge tone={TONES[state]}>{t(`kernels.states.${state}`)}</Badge>
      {!reachable && (
        <span class="second">
          {state === 'lost' ? t('kernels.lostSince', { time: formatRelative(lease) }) : t('kernels.elsewhere')}
        </span>
      )}
    </>
  );
}

function Configuration({ kernel: { current, error, generation } }: { kernel: KernelView }) {
  return (
    <>
      <Badge tone={current ? 'good' : 'bad'}>{t(current ? 'kernels.current' : 'kernels.outdated')}</Badge>
      <span class="second">{error ?? t('system.generationText', { generation })}</span>
    </>
  );
}

/** Only a separate kernel that this service reaches can be drained. */
function DrainButton({
  kernel: { id, name, state, reachable, address },
  onDone,
}: {
  kernel: KernelView;
  onDone: () => void;
}) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  if (!reachable || address === null) return null;
  const isDraining = state === 'draining';
  const change = async (): Promise<void> => {
    await run(async () => {
      await api.post(`/kernels/${segment(id)}/${isDraining ? 'serve' : 'drain'}`);
      notify(t(isDraining ? 'kernels.resumed' : 'kernels.drained', { name }));
    });
    onDone();
  };
  return (
    <button
      type="button"
      class="small"
      disabled={busy}
      aria-label={t(isDraining ? 'kernels.resumeName' : 'kernels.drainName', { name })}
      onClick={() => void change()}
    >
      {t(isDraining ? 'kernels.resume' : 'kernels.drain')}
    </button>
  );
}
