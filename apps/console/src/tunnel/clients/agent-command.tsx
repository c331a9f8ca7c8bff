import type { ClientKeyView } from '@gatehouse/contracts';
import { Secret } from '../../shared/components/secret.js';
import { bold, code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

const KEY_FILE = 'agent.key';

/** What starts a client's agent; the key in it is shown this once. */
export function AgentCommand({ client }: { client: ClientKeyView }) {
  const file = new URL('gatehouse-agent.mjs', document.baseURI).href;
  return (
    <>
      <p>{rich('clients.runThis', { b: bold })}</p>
      <h3>{t('clients.step1')}</h3>
      <Secret text={`curl -fO ${file}`} what={t('clients.downloadCommand')} />
      <h3>{t('clients.step2')}</h3>
      <Secret text={`(umask 077; printf '%s\\n' '${client.key}' > ${KEY_FILE})`} what={t('clients.keyCommand')} />
      <h3>{t('clients.step3')}</h3>
      <Secret
        text={client.command.replace(`--key ${client.key}`, `--key-file ${KEY_FILE}`)}
        what={t('clients.agentCommand')}
      />
      <p class="muted">{rich('clients.keyNote', { code })}</p>
      <details>
        <summary>{t('clients.keyAlone')}</summary>
        <Secret text={client.key} what={t('clients.key')} />
      </details>
    </>
  );
}
