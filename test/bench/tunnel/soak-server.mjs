// A tunnel's server for the soak: one client with sealed channels with a TCP tunnel and a host, both to the web server on the command line.
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  EMPTY_CONFIG,
  formatAgentKey,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const port = Number(process.argv[2]);
const secret = createAgentSecret();
const identity = createServerIdentity();
const record = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: true };
const quiet = () => {};
const server = new TunnelServer({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  identity,
  clients: { findByKeyHash: async (hash) => (hash === record.keyHash ? record : null) },
  events: { agentOnline: () => process.send({ online: true }) },
});
const loopback = { host: '127.0.0.1', port: 0 };
const door = await server.listen(loopback);
const http = await server.listenHttp(loopback);
const clients = [{ id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 }];
const target = { host: '127.0.0.1', port, weight: 1 };
const host = {
  id: 1,
  clientId: 1,
  host: 'soak.example',
  location: '/',
  scheme: 'all',
  targets: [{ ...target, scheme: 'http', insecure: false }],
  certificate: null,
  redirectToHttps: false,
  rewriteHost: null,
  requestHeaders: {},
  responseHeaders: {},
};
const [tunnel] = await server.apply({
  ...EMPTY_CONFIG,
  revision: 1,
  clients,
  tunnels: [{ id: 1, clientId: 1, mode: 'tcp', listen: loopback, targets: [target] }],
  hosts: [host],
});
process.send({ door, http, port: tunnel.port, key: formatAgentKey({ secret, fingerprint: identity.fingerprint }) });
process.on('message', () => {
  globalThis.gc?.();
  server.takeDeltas();
  server.takeVisitors();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ flows: server.flows, live: heapUsed + external });
});
process.on('disconnect', () => process.exit(0));
