import type { ClientKeyView } from '@gatehouse/contracts';
import { Secret } from '../../shared/components/secret.js';

const KEY_FILE = 'agent.key';

/** What starts a client's agent; the key in it is shown this once. */
export function AgentCommand({ client }: { client: ClientKeyView }) {
  const file = new URL('gatehouse-agent.mjs', document.baseURI).href;
  return (
    <>
      <p>
        <strong>Run this on the machine whose services are to be reached.</strong> It needs Node 20.19 or newer and
        nothing else; no port has to be open there.
      </p>
      <h3>1. Fetch the agent</h3>
      <Secret text={`curl -fO ${file}`} what="Download command" />
      <h3>2. Keep the key in a file that only you can read</h3>
      <Secret text={`(umask 077; printf '%s\\n' '${client.key}' > ${KEY_FILE})`} what="Key file command" />
      <h3>3. Start it</h3>
      <Secret text={client.command.replace(`--key ${client.key}`, `--key-file ${KEY_FILE}`)} what="Agent command" />
      <p class="muted">
        Copy the key now. You will not be able to see it again. It is not part of the command that runs, because other
        users of a machine can see command lines; <code>GATEHOUSE_AGENT_KEY</code> takes it, too.
      </p>
      <details>
        <summary>The key alone</summary>
        <Secret text={client.key} what="Key" />
      </details>
    </>
  );
}
