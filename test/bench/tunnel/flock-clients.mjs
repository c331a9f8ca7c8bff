// The clients of a server that has very many of them: what it looks up, and its configuration.
import { agentKeyHash } from '@gatehouse/tunnel-kernel';

const ACCOUNT = { userId: 1, enabled: true, expiresAt: null, rateLimit: 0, maxConnections: 0 };
const quiet = () => {};

/** Of a server whose clients nobody visits. */
export function flockOptions(identity, secrets) {
  const records = new Map();
  for (const [index, secret] of secrets.entries()) {
    const keyHash = agentKeyHash(secret);
    records.set(keyHash, { id: index + 1, keyHash, enabled: true, encrypt: true });
  }
  return {
    now: Date.now,
    logger: { debug: quiet, info: quiet, warn: quiet, error: console.error },
    identity,
    clients: { findByKeyHash: async (hash) => records.get(hash) ?? null },
    // As of clients that nobody visited for a minute, from the first on.
    pool: { quietAbove: -1 },
  };
}

export function flockConfig(secrets) {
  const clients = secrets.map((_, index) => ({ id: index + 1, ...ACCOUNT }));
  return { revision: 1, clients, tunnels: [], hosts: [], ipRules: [], policies: [] };
}
