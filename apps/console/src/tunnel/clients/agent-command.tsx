import type { ClientKeyView } from '@gatehouse/contracts';
import { Secret } from '../../shared/components/secret.js';

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
      <h3>2. Start it</h3>
      <Secret text={client.command} what="Agent command" />
      <p class="muted">
        The key is shown this once, and nobody can read it again. Other users of a machine can see command lines: in the
        long run put the key into a file and say <code>--key-file</code>, or into <code>GATEHOUSE_AGENT_KEY</code>.
      </p>
      <details>
        <summary>The key alone</summary>
        <Secret text={client.key} what="Key" />
      </details>
    </>
  );
}
