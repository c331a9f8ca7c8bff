// One of several tunnel servers of a gateway, alone in a process. The argument has the gateway's secrets and the port of
// the target; a message has the list of servers.
import { agentKeyHash, TunnelServer } from '@gatehouse/tunnel-kernel';

const { id, identity, secret, psk, target, sealed } = JSON.parse(process.argv[2]);
const client = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: sealed };
const quiet = () => {};
const server = new TunnelServer({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  identity,
  clients: { findByKeyHash: async (hash) => (hash === client.keyHash ? client : null) },
  peers: {
    id,
    keys: [{ identity: 'bench', psk: Buffer.from(psk, 'hex') }],
    listen: { host: '127.0.0.1', port: 0 },
  },
});
const agents = { host: '127.0.0.1', port: await server.listen({ host: '127.0.0.1', port: 0 }) };
const mesh = await server.peers.listen();
const targets = [{ host: '127.0.0.1', port: target, weight: 1 }];
const listen = { host: '127.0.0.1', port: 0 };
const account = { id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };
const tunnels = [{ id: 1, clientId: 1, mode: 'tcp', listen, targets }];
const [tunnel] = await server.apply({ revision: 1, clients: [account], tunnels, hosts: [], ipRules: [], policies: [] });
process.send({ id, mesh, agents, port: tunnel.port });
process.on('message', (list) => {
  server.peers.apply(list);
  const timer = setInterval(() => {
    if (!server.peers.states().every(({ connected }) => connected)) return;
    if (server.tunnels()[0].state !== 'running') return;
    clearInterval(timer);
    process.send({ served: true });
  }, 10);
});
process.on('disconnect', () => process.exit(0));
