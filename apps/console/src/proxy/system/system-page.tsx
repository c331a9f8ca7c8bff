import type { KernelState, SystemStatus } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Card, Facts, Page, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatDuration, formatRelative, formatTime } from '../../shared/format/times.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { GeoCard } from './geo-card.js';
import { KernelLists } from './kernel-lists.js';
import { ReloadButton } from './reload-button.js';

const KERNEL_TONES: Record<KernelState, BadgeTone> = {
  running: 'good',
  starting: 'fair',
  reloading: 'fair',
  degraded: 'bad',
  stopped: 'bad',
};

const KERNEL_TYPES = { embedded: t('settingsPage.choices.embedded'), mihomo: 'mihomo' };

export function SystemPage() {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.get<SystemStatus>('/system/status', {}, signal), [], {
    everyMs: 3_000,
  });
  return (
    <Page title={t('nav.system')} actions={<ReloadButton onDone={reload} />}>
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && (
        <>
          <div class="columns">
            <KernelCard status={data} />
            <ServiceCard status={data} />
          </div>
          <KernelLists kernel={data.kernel} />
        </>
      )}
      {(data || error) && <GeoCard />}
    </Page>
  );
}

function KernelCard({ status: { kernel, connections } }: { status: SystemStatus }) {
  return (
    <Card
      title={t('system.kernel')}
      actions={<Badge tone={KERNEL_TONES[kernel.state]}>{t(`kernelStates.${kernel.state}`)}</Badge>}
    >
      <Facts
        facts={[
          [t('common.type'), `${KERNEL_TYPES[kernel.type]} ${kernel.version}`],
          [t('system.uptime'), formatDuration(kernel.uptime_sec === null ? null : kernel.uptime_sec * 1000)],
          [t('system.restarts'), kernel.restarts],
          [t('nav.connections'), formatCount(connections)],
          [t('system.memory'), formatBytes(kernel.rss_bytes)],
          [t('system.generation'), t('system.generationText', { generation: kernel.generation })],
          [
            t('system.lastReload'),
            t('system.lastReloadText', {
              time: formatRelative(kernel.last_reload_at),
              duration: formatDuration(kernel.last_reload_ms),
            }),
          ],
          [t('system.lastError'), kernel.last_error],
        ]}
      />
    </Card>
  );
}

function ServiceCard({ status }: { status: SystemStatus }) {
  const { database, queue, memory, cpu } = status;
  const isWell = database.ok && queue.ok;
  return (
    <Card
      title={t('system.service')}
      actions={<Badge tone={isWell ? 'good' : 'bad'}>{isWell ? t('system.healthy') : t('system.unhealthy')}</Badge>}
    >
      <Facts
        facts={[
          [
            t('words.version'),
            `${status.version}${status.commit === null ? '' : ` (${status.commit.slice(0, 10)})`}, Node ${status.node_version}`,
          ],
          [
            t('system.uptime'),
            <span key="up" title={formatTime(status.started_at)}>
              {formatDuration(status.uptime_sec * 1000)}
            </span>,
          ],
          [t('system.machine'), `${status.hostname}, ${status.os} ${status.arch}`],
          [
            t('system.cpu'),
            t('system.cpuText', { percent: cpu.percent.toFixed(1), cores: cpu.cores, load: cpu.load1.toFixed(2) }),
          ],
          [
            t('system.memory'),
            t('system.memoryText', { used: formatBytes(memory.rss_bytes), total: formatBytes(memory.total_bytes) }),
          ],
          [t('system.disk'), formatBytes(status.disk.free_bytes)],
          [
            t('system.database'),
            database.ok ? `${database.version ?? ''}, ${formatDuration(database.latency_ms)}` : t('system.unreachable'),
          ],
          [
            t('system.queue'),
            queue.ok
              ? t('system.queueText', {
                  active: queue.active ?? 0,
                  waiting: queue.waiting ?? 0,
                  failed: queue.failed ?? 0,
                })
              : t('system.unreachable'),
          ],
        ]}
      />
    </Card>
  );
}
