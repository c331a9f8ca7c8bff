import type { NodeView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useApi } from '../../shared/api/api-context.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { Switch } from '../../shared/components/fields.js';
import { Badge } from '../../shared/components/page.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { LiveDelay } from '../tests/live-delay.js';

/** What the rows of the list do. */
export interface NodeActions {
  onOpen: (node: NodeView) => void;
  onUse: (node: NodeView) => void;
  onTest: (node: NodeView) => void;
  onSelect: (id: number, isRange: boolean) => void;
  isSelected: (id: number) => boolean;
  /** The groups that use a node now. */
  usersOf: (id: number) => readonly string[];
  reload: () => void;
}

export function SelectBox({ id, name, actions }: { id: number; name: string; actions: NodeActions }) {
  return (
    <input
      type="checkbox"
      aria-label={t('bulk.selectName', { name })}
      checked={actions.isSelected(id)}
      onClick={(event) => actions.onSelect(id, event.shiftKey)}
    />
  );
}

export function NodeTitle({ node, actions, second }: { node: NodeView; actions: NodeActions; second: string }) {
  const users = actions.usersOf(node.id);
  return (
    <>
      <button type="button" class="link" title={node.name} onClick={() => actions.onOpen(node)}>
        <FlaggedName name={node.name} />
      </button>
      {users.length > 0 && (
        <>
          {' '}
          <Badge tone="good" title={t('exit.usedBy', { groups: users.join(', ') })}>
            {t('exit.inUse')}
          </Badge>
        </>
      )}
      <span class="second" title={second}>
        {second}
      </span>
    </>
  );
}

export function serverOf(node: NodeView): string {
  return [`${node.server}:${node.port}`, ...node.tags.map((tag) => `#${tag}`)].join(' · ');
}

export function NodeType({ node }: { node: NodeView }) {
  const extras = [node.network === 'tcp' ? '' : node.network, node.tls === 'none' ? '' : node.tls];
  return (
    <>
      {node.type}
      <span class="second">{extras.filter((text) => text !== '').join(' ')}</span>
      {node.kernel_support !== 'embedded' && (
        <Badge tone="fair" title={node.unsupported_reason ?? undefined}>
          {t(`nodes.kernelSupport.${node.kernel_support}`)}
        </Badge>
      )}
    </>
  );
}

/** The delay; a click measures it again. */
export function NodeDelay({ node, actions }: { node: NodeView; actions: NodeActions }) {
  const { circuit_open_since: failingSince, last_error: error, last_tested_at: testedAt } = node;
  return (
    <>
      <button type="button" class="link delay-button" onClick={() => actions.onTest(node)}>
        <span class="hidden">{t('nodes.testName', { name: node.name })}: </span>
        <LiveDelay nodeId={node.id} alive={node.alive} delayMs={node.delay_ms} title={error?.message} />
      </button>
      {failingSince === null ? (
        <span class="second">{testedAt === null ? '' : formatRelative(testedAt)}</span>
      ) : (
        <Badge tone="bad" title={t('nodes.failingSince', { time: formatTime(failingSince) })}>
          {t('nodes.failing')}
        </Badge>
      )}
    </>
  );
}

export function NodeTraffic({ node }: { node: NodeView }) {
  const { active_connections: count } = node;
  return (
    <>
      {formatBytes(node.upload_total + node.download_total)}
      <span class="second">{count ? t('groups.open', { count }) : ''}</span>
    </>
  );
}

export function EnabledSwitch({ node, reload }: { node: NodeView; reload: () => void }) {
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

export function UseButton({ node, actions }: { node: NodeView; actions: NodeActions }): ComponentChildren {
  return (
    <button
      type="button"
      class="small"
      disabled={!node.enabled || node.kernel_support === 'unsupported'}
      aria-label={t('exit.useName', { name: node.name })}
      onClick={() => actions.onUse(node)}
    >
      {t('exit.use')}
    </button>
  );
}
