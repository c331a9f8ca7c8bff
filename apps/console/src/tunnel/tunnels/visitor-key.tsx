import type { NewTunnelView } from '@gatehouse/contracts';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { Secret } from '../../shared/components/secret.js';
import { useGateway } from '../parts/gateway-context.js';
import { nameOf } from './tunnel-name.js';

/** What visitors of a private tunnel need; shown once. */
export function VisitorKey({ tunnel, onClose }: { tunnel: NewTunnelView; onClose: () => void }) {
  const { agent_address: server } = useGateway();
  const key = tunnel.visitor_key ?? '';
  const command = `node gatehouse-agent.mjs visit --server ${server} --key-file tunnel.key --listen 127.0.0.1:${portOf(tunnel)}`;
  return (
    <SecretDialog title={`Visitors of ${nameOf(tunnel)}`} onClose={onClose} wide>
      <p>
        <strong>Who has this key may come in.</strong> On the visitor’s machine the first command keeps the key in a
        file that only they can read, and the second one opens a local port that leads to {tunnel.target_addr}:
      </p>
      <Secret text={`(umask 077; printf '%s\\n' '${key}' > tunnel.key)`} what="Key file command" />
      <Secret text={command} what="Visitor command" />
      <p class="muted">Copy the key now. You will not be able to see it again. A new key replaces the old one.</p>
      <details>
        <summary>The key alone</summary>
        <Secret text={key} what="Key" />
      </details>
    </SecretDialog>
  );
}

/** The target's own port is what programs expect. */
function portOf({ target_addr: target }: NewTunnelView): string {
  return /:(\d{1,5})(?:[#,\s]|$)/.exec(target)?.[1] ?? '9000';
}
