// The tunnel's server alone in a process: one client with the tunnels that the command line says in JSON.
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const { forwards, encrypt, near } = JSON.parse(process.argv[2] ?? '{}');
const secret = createAgentSecret();
const identity = createServerIdentity();
const client = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt };
const quiet = () => {};
const server = new TunnelServer({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  identity,
  datagrams: near ? {} : { nearMs: 0 },
  clients: { findByKeyHash: async (hash) => (hash === client.keyHash ? client : null) },
  events: { agentOnline: () => process.send({ online: true }) },
});
const loopback = (port) => ({ host: '127.0.0.1', port });
const target = (port) => ({ ...loopback(port), weight: 1 });
const door = await server.listen(loopback(0));
const states = await server.apply({
  revision: 1,
  clients: [{ id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 }],
  tunnels: forwards.map((forward, index) => ({
    id: index + 1,
    clientId: 1,
    mode: forward.udp ? 'udp' : 'tcp',
    listen: loopback(forward.entry),
    targets: [target(forward.target)],
  })),
  hosts: [],
  ipRules: [],
  policies: [],
});
for (const state of states) if (state.error) throw new Error(JSON.stringify(state));
process.send({ door, key: formatAgentKey({ secret, fingerprint: identity.fingerprint }) });
process.on('message', () => process.send({ packets: server.agents()[0]?.packets ?? false }));
process.on('disconnect', () => process.exit(0));
