// The tunnel's server alone in a process: one client, one host that leads to the port on the command line. The third argument
// says whether its requests are recorded, and how (`requests`, `full`).
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const [target, encrypt, record = 'off'] = process.argv.slice(2);
const secret = createAgentSecret();
const identity = createServerIdentity();
const certificate = createServerIdentity('bench.test');
const client = { id: 1, keyHash: agentKeyHash(secret), enabled: true, encrypt: encrypt === 'tls' };
const quiet = () => {};
const server = new TunnelServer({
  now: Date.now,
  logger: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  identity,
  clients: { findByKeyHash: async (hash) => (hash === client.keyHash ? client : null) },
  http: { defaultCertificate: { chain: certificate.certificate, key: certificate.key } },
});
const door = await server.listen({ host: '127.0.0.1', port: 0 });
const port = await server.listenHttp({ host: '127.0.0.1', port: 0 });
const securePort = await server.listenHttps({ host: '127.0.0.1', port: 0 });
const account = { id: 1, userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };
const host = {
  id: 1,
  clientId: 1,
  host: '127.0.0.1',
  location: '/',
  scheme: 'all',
  targets: [{ host: '127.0.0.1', port: Number(target), weight: 1, scheme: 'http', insecure: false }],
  certificate: null,
  redirectToHttps: false,
  rewriteHost: null,
  requestHeaders: {},
  responseHeaders: {},
  ...(record !== 'off' && { record }),
};
await server.apply({ revision: 1, clients: [account], tunnels: [], hosts: [host], ipRules: [], policies: [] });
process.send({ door, port, securePort, key: formatAgentKey({ secret, fingerprint: identity.fingerprint }) });
// As a gateway does: what was counted is taken each second.
setInterval(() => server.takeDeltas(), 1000);
process.on('disconnect', () => process.exit(0));
