// The tunnel's server with as many clients as the command line says, or a bare TLS server, and what memory it takes.
import { createServer } from 'node:tls';
import { once } from 'node:events';
import {
  agentKeyHash,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  TunnelServer,
} from '@gatehouse/tunnel-kernel';

const [count, kind] = process.argv.slice(2);
const quiet = () => {};
const identity = createServerIdentity();

async function startTunnel() {
  const secrets = Array.from({ length: Number(count) }, () => createAgentSecret());
  const records = new Map();
  for (const [index, secret] of secrets.entries()) {
    const keyHash = agentKeyHash(secret);
    records.set(keyHash, { id: index + 1, keyHash, enabled: true, encrypt: true });
  }
  const server = new TunnelServer({
    now: Date.now,
    logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
    identity,
    clients: { findByKeyHash: async (hash) => records.get(hash) ?? null },
    // As of clients that nobody visited for a minute, from the first on.
    pool: { quietAbove: -1 },
  });
  const door = await server.listen({ host: '127.0.0.1', port: 0 });
  const limits = { userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };
  const clients = [...records.values()].map(({ id }) => ({ id, ...limits }));
  await server.apply({ revision: 1, clients, tunnels: [], hosts: [], ipRules: [], policies: [] });
  const keys = secrets.map((secret) => formatAgentKey({ secret, fingerprint: identity.fingerprint }));
  return { door, keys, size: () => server.agents().length };
}

async function startBare() {
  const { key, certificate: cert } = identity;
  const open = new Set();
  const server = createServer({ key, cert, minVersion: 'TLSv1.3' }, (socket) => {
    open.add(socket);
    socket.on('data', quiet).on('error', quiet);
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  const keys = Array.from({ length: Number(count) }, () => '');
  return { door: server.address().port, keys, size: () => open.size };
}

const { door, keys, size } = await (kind === 'bare' ? startBare() : startTunnel());
process.send({ door, keys, bare: kind === 'bare' });
process.on('message', () => {
  for (let turn = 0; turn < 3; turn++) globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ size: size(), rss, heapUsed, external });
});
process.on('disconnect', () => process.exit(0));
