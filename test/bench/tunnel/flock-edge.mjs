// One of several edges of a gateway with very many clients, alone in a process. A file has the gateway's secrets, the edge's
// id and its address; the first message has the list of edges. Says ten times a second how many connections of agents it has.
import { readFileSync } from 'node:fs';
import { TunnelServer } from '@gatehouse/tunnel-kernel';
import { flockConfig, flockOptions } from './flock-clients.mjs';
import { tellMemory } from './flock-memory.mjs';

const [file, id, host, port] = process.argv.slice(2);
const { identity, secrets, psk } = JSON.parse(readFileSync(file, 'utf8'));
const server = new TunnelServer({
  ...flockOptions(identity, secrets),
  // Agents have addresses of their own, and only here do all have one: it has no limit of its own for handshakes.
  trustedProxies: ['127.0.0.1'],
  peers: { id, keys: [{ identity: 'bench', psk: Buffer.from(psk, 'hex') }], listen: { host, port: 0 } },
});
const agents = { host, port: await server.listen({ host, port: Number(port) }) };
const mesh = await server.peers.listen();
await server.apply(flockConfig(secrets));
process.send({ id, mesh, agents });
process.once('message', (edges) => {
  server.peers.apply(edges);
  server.announceEdges({ own: id, edges: edges.map(({ id: edge, agents: at }) => ({ id: edge, ...at })) });
  tellMemory(() => server.agentCount);
  setInterval(() => process.send({ count: server.agentCount }), 100);
});
process.on('disconnect', () => process.exit(0));
