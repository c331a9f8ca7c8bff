// The tunnel's server with as many clients as the command line says, or a bare TLS server, and what memory it takes.
import { createServer } from 'node:tls';
import { once } from 'node:events';
import { createAgentSecret, createServerIdentity, formatAgentKey, TunnelServer } from '@gatehouse/tunnel-kernel';
import { flockConfig, flockOptions } from './flock-clients.mjs';
import { tellMemory } from './flock-memory.mjs';

const [count, kind] = process.argv.slice(2);
const quiet = () => {};
const identity = createServerIdentity();

async function startTunnel() {
  const secrets = Array.from({ length: Number(count) }, () => createAgentSecret());
  const server = new TunnelServer(flockOptions(identity, secrets));
  const door = await server.listen({ host: '127.0.0.1', port: 0 });
  await server.apply(flockConfig(secrets));
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
tellMemory(size);
process.on('disconnect', () => process.exit(0));
