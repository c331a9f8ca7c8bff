import type { NodeTestResult, NodeView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Delay } from '../../shared/components/delay.js';
import { Switch } from '../../shared/components/fields.js';
import { Badge } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

interface NodeTableProps {
  rows: readonly NodeView[] | undefined;
  sort: string;
  onSort: (sort: string) => void;
  onOpen: (node: NodeView) => void;
  reload: () => void;
}

export function NodeTable({ rows, sort, onSort, onOpen, reload }: NodeTableProps) {
  const columns: Column<NodeView>[] = [
    { head: t('common.enabled'), quietHead: true, cell: (node) => <EnabledSwitch node={node} reload={reload} /> },
    { head: t('common.name'), sort: 'name', grow: true, cell: (node) => <NodeName node={node} onOpen={onOpen} /> },
    { head: t('common.type'), cell: (node) => <NodeType node={node} /> },
    {
      head: t('words.country'),
      sort: 'country',
      cell: (node) => <span title={node.country_name ?? ''}>{node.country ?? '–'}</span>,
    },
    { head: t('words.delay'), sort: 'delay', right: true, cell: (node) => <NodeDelay node={node} /> },
    {
      head: t('nodes.tested'),
      right: true,
      cell: (node) => <span class="muted">{formatRelative(node.last_tested_at)}</span>,
    },
    { head: t('words.connections'), right: true, cell: (node) => formatCount(node.active_connections) },
    { head: t('words.bytes'), right: true, cell: (node) => formatBytes(node.upload_total + node.download_total) },
    { head: t('words.test'), quietHead: true, right: true, cell: (node) => <TestButton node={node} reload={reload} /> },
  ];
  return (
    <Table
      caption={t('nav.nodes')}
      columns={columns}
      rows={rows}
      rowKey={(node) => node.id}
      rowClass={(node) => (node.enabled ? '' : 'faint')}
      sort={sort}
      onSort={onSort}
      empty={t('nodes.empty')}
    />
  );
}

function NodeName({ node, onOpen }: { node: NodeView; onOpen: (node: NodeView) => void }) {
  const from = node.subscription_name === null ? '' : ` · ${node.subscription_name}`;
  return (
    <>
      <button type="button" class="link" title={node.name} onClick={() => onOpen(node)}>
        {node.name}
      </button>
      <span class="second">{`${node.server}:${node.port}${from}${node.tags.map((tag) => ` · #${tag}`).join('')}`}</span>
    </>
  );
}

function NodeType({ node }: { node: NodeView }) {
  const extras = [node.network === 'tcp' ? '' : node.network, node.tls === 'none' ? '' : node.tls].filter(
    (text) => text !== '',
  );
  return (
    <>
      {node.type}
      {extras.length > 0 && <span class="muted"> {extras.join(' ')}</span>}{' '}
      {node.kernel_support !== 'embedded' && (
        <Badge tone="fair" title={node.unsupported_reason ?? undefined}>
          {t(`nodes.kernelSupport.${node.kernel_support}`)}
        </Badge>
      )}
    </>
  );
}

function NodeDelay({ node }: { node: NodeView }) {
  return (
    <>
      {node.circuit_open_since !== null && (
        <Badge tone="bad" title={t('nodes.failingSince', { time: formatTime(node.circuit_open_since) })}>
          {t('nodes.failing')}
        </Badge>
      )}{' '}
      <Delay alive={node.alive} delayMs={node.delay_ms} title={node.last_error?.message} />
    </>
  );
}

function EnabledSwitch({ node, reload }: { node: NodeView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const change = async (enabled: boolean): Promise<void> => {
    await run(() => api.put(`/proxies/${node.id}`, { enabled }));
    reload();
  };
  return (
    <Switch
      label={t('nodes.enabledName', { name: node.name })}
      checked={node.enabled}
      disabled={busy}
      onChange={(enabled) => void change(enabled)}
    />
  );
}

function TestButton({ node, reload }: { node: NodeView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const [failed, setFailed] = useState<string | null>(null);
  const test = async (): Promise<void> => {
    await run(async () => {
      const result = await api.post<NodeTestResult>(`/proxies/${node.id}/test`);
      setFailed(result.error?.message ?? null);
    });
    reload();
  };
  return (
    <button
      type="button"
      class="small"
      disabled={busy}
      aria-label={t('nodes.testName', { name: node.name })}
      title={failed ?? undefined}
      onClick={() => void test()}
    >
      {busy ? '…' : t('words.test')}
    </button>
  );
}
