import type { NodeView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Delay } from '../../shared/components/delay.js';
import { Confirm, Dialog } from '../../shared/components/dialog.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { Facts } from '../../shared/components/page.js';
import { formatBytes, formatPercent } from '../../shared/format/amounts.js';
import { countryName } from '../../shared/format/countries.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { language } from '../../shared/messages/index.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
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
        {node.share_link !== null && (
          <CopyButton text={node.share_link} label={t('nodes.copyLink')} what={t('nodes.link')} />
        )}
        <CopyButton text={node.raw_config} label={t('nodes.copyConfig')} what={t('nodes.config')} />
        <button type="button" class="danger" onClick={() => setRemoving(true)}>
          {t('common.deleteMore')}
        </button>
      </div>
      <EditNode node={node} onClose={onClose} onDone={onDone} />
    </Dialog>
  );
}

function factsOf(node: NodeView): [string, ComponentChildren][] {
  const { last_error: error } = node;
  const sources = node.sources.map(({ subscription_id: id, name }) => t('nodes.sourceOf', { name, id }));
  const country = {
    country: node.country && countryName(node.country, language()),
    source: t(`nodes.countrySources.${node.country_source}`),
  };
  const asn = node.exit_asn === null ? '' : ` (AS${node.exit_asn})`;
  const test = `${formatRelative(node.last_tested_at)}${error === null ? '' : `: ${error.message}`}`;
  return [
    [
      t('common.type'),
      [node.type, node.network, node.tls === 'none' ? null : node.tls, node.cipher, node.udp ? 'UDP' : null]
        .filter(Boolean)
        .join(', '),
    ],
    [t('nodes.server'), `${node.server}:${node.port}${node.sni === null ? '' : ` (SNI ${node.sni})`}`],
    [t('nodes.originalName'), <FlaggedName key="name" name={node.original_name} />],
    [t('nodes.sources'), sources.join(', ') || t(`nodes.sourceNames.${node.source}`)],
    [t('words.country'), node.country === null ? null : t('nodes.countryBy', country)],
    [t('words.exitIp'), node.exit_ip === null ? null : `${node.exit_ip}${asn}`],
    [t('nodes.lastTest'), node.last_tested_at === null ? null : test],
    [t('nodes.successRate'), formatPercent(node.success_rate)],
    [
      t('nodes.traffic'),
      t('words.downUp', { down: formatBytes(node.download_total), up: formatBytes(node.upload_total) }),
    ],
    [t('nodes.firstSeen'), formatTime(node.first_seen_at)],
    [t('nodes.kernel'), node.unsupported_reason ?? t(`nodes.kernelSupport.${node.kernel_support}`)],
    [t('nodes.idInRules'), `n${node.id}`],
  ];
}

function DelayHistory({ node }: { node: NodeView }) {
  if (node.delay_history.length === 0) return null;
  return (
    <p aria-label={t('nodes.history')}>
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
    if (!(await run(() => api.delete(`/proxies/${node.id}`), t('notice.deleted', { name: node.name })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('nodes.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{rich('nodes.deleteText', { name: <FlaggedName name={node.name} />, b: bold })}</p>
    </Confirm>
  );
}
