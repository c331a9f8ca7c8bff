import type { NewTunnelView } from '@gatehouse/contracts';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { Secret } from '../../shared/components/secret.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { useGateway } from '../parts/gateway-context.js';
import { nameOf } from './tunnel-name.js';

/** What visitors of a private tunnel need; shown once. */
export function VisitorKey({ tunnel, onClose }: { tunnel: NewTunnelView; onClose: () => void }) {
  const { agent_address: server } = useGateway();
  const key = tunnel.visitor_key ?? '';
  const command = `node gatehouse-agent.mjs visit --server ${server} --key-file tunnel.key --listen 127.0.0.1:${portOf(tunnel)}`;
  return (
    <SecretDialog title={t('tunnels.visitorsOf', { name: nameOf(tunnel) })} onClose={onClose} wide>
      <p>{rich('tunnels.visitorText', { target: tunnel.target_addr, b: bold })}</p>
      <Secret text={`(umask 077; printf '%s\\n' '${key}' > tunnel.key)`} what={t('clients.keyCommand')} />
      <Secret text={command} what={t('tunnels.visitorCommand')} />
      <p class="muted">{t('tunnels.visitorNote')}</p>
      <details>
        <summary>{t('clients.keyAlone')}</summary>
        <Secret text={key} what={t('clients.key')} />
      </details>
    </SecretDialog>
  );
}

/** The target's own port is what programs expect. */
function portOf({ target_addr: target }: NewTunnelView): string {
  return /:(\d{1,5})(?:[#,\s]|$)/.exec(target)?.[1] ?? '9000';
}
