// One end of a tunnel as a process that can be killed: `agent <port> <key>`, or `server <port of the target> <plain|sealed>`.
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  TunnelAgent,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const [role, port, more] = process.argv.slice(2);
const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const shared = { now: Date.now, logger };

async function serve() {
  const secret = createAgentSecret();
  const identity = createServerIdentity();
  const record = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: more === 'sealed' };
  const server = new TunnelServer({ ...shared, identity, clients: { findByKeyHash: async () => record } });
  const door = await server.listen({ host: '127.0.0.1', port: 0 });
  const client = { id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };
  const targets = [{ host: '127.0.0.1', port: Number(port), weight: 1 }];
  const tunnel = { id: 7, clientId: 1, mode: 'tcp', listen: { host: '127.0.0.1', port: 0 }, targets };
  const config = { revision: 1, clients: [client], tunnels: [tunnel], hosts: [], ipRules: [], policies: [] };
  const [state] = await server.apply(config);
  process.send({ door, port: state.port, key: formatAgentKey({ secret, fingerprint: identity.fingerprint }) });
}

if (role === 'server') await serve();
else {
  const server = { host: '127.0.0.1', port: Number(port) };
  const events = { configured: () => process.send({ online: true }) };
  new TunnelAgent({ ...shared, server, key: more, transport: 'raw', events }).start();
}
process.on('disconnect', () => process.exit(0));
