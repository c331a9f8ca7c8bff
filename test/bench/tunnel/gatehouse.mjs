// The tunnel as a subject: server and agent, a process each; the server with the flags that the gateway starts it with.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EDGE_FLAGS } from '../../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { startScript } from '../processes.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** `near: false`: datagrams are packets of UDP, as with an agent far away. */
export async function startGatehouse({ forwards, via }, { encrypt, near = true }) {
  const server = await startScript(here('edge.mjs'), [JSON.stringify({ forwards, encrypt, near })], {
    execArgv: EDGE_FLAGS,
  });
  const { door, key } = server.first;
  const agent = await startScript(here('agent.mjs'), [String(await via(door)), key]);
  for (let wanted = forwards.some(({ udp }) => udp); wanted;) {
    server.child.send('state');
    const [{ packets }] = await once(server.child, 'message');
    wanted = packets === false;
  }
  return [server.child, agent.child];
}
