// The tunnel's server alone in a process: one client, with a rate limit if one is given, one tunnel to the port on the
// command line. The agent is never near, unless it says so.
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const [target, encrypt, rateLimit = '0', mode = 'tcp', near] = process.argv.slice(2);
const secret = createAgentSecret();
const identity = createServerIdentity();
const client = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: encrypt === 'tls' };
const quiet = () => {};
const server = new TunnelServer({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  identity,
  datagrams: near === 'near' ? {} : { nearMs: 0 },
  clients: { findByKeyHash: async (hash) => (hash === client.keyHash ? client : null) },
  events: { agentOnline: () => process.send({ online: true }) },
});
const door = await server.listen({ host: '127.0.0.1', port: 0 });
const targets = [{ host: '127.0.0.1', port: Number(target), weight: 1 }];
const listen = { host: '127.0.0.1', port: 0 };
const account = { id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: Number(rateLimit), maxConnections: 0 };
const tunnels = [{ id: 1, clientId: 1, mode, listen, targets }];
const [tunnel] = await server.apply({ revision: 1, clients: [account], tunnels, hosts: [], ipRules: [], policies: [] });
process.send({ door, port: tunnel.port, key: formatAgentKey({ secret, fingerprint: identity.fingerprint }) });
process.on('message', () => process.send({ packets: server.agents()[0]?.packets ?? false }));
process.on('disconnect', () => process.exit(0));
