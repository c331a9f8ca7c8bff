import type { NodeView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Delay } from '../../shared/components/delay.js';
import { Confirm, Dialog } from '../../shared/components/dialog.js';
import { Facts } from '../../shared/components/page.js';
import { formatBytes, formatPercent } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { EditNode } from './edit-node.js';

interface NodeDialogProps {
  node: NodeView;
  onClose: () => void;
  onDone: () => void;
}

/** Everything about one node, and what can be done with it. */
export function NodeDialog({ node, onClose, onDone }: NodeDialogProps) {
  const [removing, setRemoving] = useState(false);
  if (removing) return <RemoveNode node={node} onClose={onClose} onDone={onDone} />;
  return (
    <Dialog title={node.name} onClose={onClose} wide>
      <Facts facts={factsOf(node)} />
      <DelayHistory node={node} />
      <div class="actions">
        {node.share_link !== null && <CopyButton text={node.share_link} label="Copy link" what="Link" />}
        <CopyButton text={node.raw_config} label="Copy configuration" what="Configuration" />
        <button type="button" class="danger" onClick={() => setRemoving(true)}>
          Delete …
        </button>
      </div>
      <EditNode node={node} onClose={onClose} onDone={onDone} />
    </Dialog>
  );
}

function factsOf(node: NodeView): [string, string | null][] {
  const { last_error: error } = node;
  return [
    ['Type', [node.type, node.network, node.tls, node.cipher, node.udp ? 'UDP' : null].filter(Boolean).join(', ')],
    ['Server', `${node.server}:${node.port}${node.sni === null ? '' : ` (SNI ${node.sni})`}`],
    ['Came with the name', node.original_name],
    [
      'Sources',
      node.sources.map(({ subscription_id, name }) => `${name} (subscription ${subscription_id})`).join(', ') ||
        node.source,
    ],
    ['Country', node.country === null ? null : `${node.country_name ?? node.country} (by ${node.country_source})`],
    [
      'Exit address',
      node.exit_ip === null ? null : `${node.exit_ip}${node.exit_asn === null ? '' : ` (AS${node.exit_asn})`}`,
    ],
    [
      'Last test',
      node.last_tested_at === null
        ? null
        : `${formatRelative(node.last_tested_at)}${error === null ? '' : `: ${error.message}`}`,
    ],
    ['Success of all tests', formatPercent(node.success_rate)],
    ['Carried', `${formatBytes(node.download_total)} down, ${formatBytes(node.upload_total)} up`],
    ['First seen', formatTime(node.first_seen_at)],
    ['Kernel', node.unsupported_reason ?? node.kernel_support],
    ['In rules and groups', `n${node.id}`],
  ];
}

function DelayHistory({ node }: { node: NodeView }) {
  if (node.delay_history.length === 0) return null;
  return (
    <p aria-label="The last tests, the newest last">
      {node.delay_history.map(({ time, delay_ms }) => (
        <span key={time}>
          <Delay alive={delay_ms !== null} delayMs={delay_ms} title={formatTime(time)} />{' '}
        </span>
      ))}
    </p>
  );
}

function RemoveNode({ node, onClose, onDone }: NodeDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    if (!(await run(() => api.delete(`/proxies/${node.id}`), `${node.name} was deleted.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title="Delete this node?" action="Delete" busy={busy} onConfirm={() => void remove()} onClose={onClose}>
      <p>
        <strong>{node.name}</strong> leaves all groups. Rules that name it are skipped. A node that a subscription
        carries too stays as the subscription’s.
      </p>
    </Confirm>
  );
}
