// Agents that stay connected to two of three edges, and the death of one of these.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAgentSecret, createServerIdentity, formatAgentKey } from '@gatehouse/tunnel-kernel';
import { EDGE_FLAGS } from '../../../apps/tunnel-gateway/dist/edge-supervisor/fork-edge.js';
import { cpuSeconds, freePort, startScript, stop } from '../processes.mjs';
import { folder, here, look, online, startFlocks, until } from './flocks.mjs';

const EDGES = ['a', 'b', 'c'];
const KIB = 1024;
/** What greeting agents left behind is gone. */
const QUIET_MS = 5_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const total = (edges) => edges.reduce((sum, { count }) => sum + count, 0);
const cpuOf = (processes) => processes.reduce((sum, { child }) => sum + cpuSeconds(child.pid), 0);

async function startEdges(agents) {
  const identity = createServerIdentity();
  const secrets = Array.from({ length: agents }, () => createAgentSecret());
  const file = path.join(folder, 'edges.json');
  writeFileSync(file, JSON.stringify({ identity, secrets, psk: randomBytes(32).toString('hex') }), { mode: 0o600 });
  const door = await freePort();
  const execArgv = [...process.execArgv, ...EDGE_FLAGS];
  const edges = [];
  for (const [at, id] of EDGES.entries()) {
    const args = [file, id, `127.0.0.${at + 2}`, String(door)];
    edges.push({ ...(await startScript(here('flock-edge.mjs'), args, { execArgv })), count: 0 });
  }
  for (const edge of edges) {
    edge.child.on('message', ({ count }) => (edge.count = count ?? edge.count));
    edge.child.send(edges.map(({ first: { id, mesh, agents: at } }) => ({ id, mesh, agents: at })));
  }
  const keys = secrets.map((secret) => formatAgentKey({ secret, fingerprint: identity.fingerprint }));
  return { edges, keys, door, addresses: edges.map(({ first }) => first.agents.host) };
}

const memoryOf = async (edges) => {
  const looks = [];
  for (const edge of edges) looks.push(await look(edge));
  return looks.reduce((sum, { rss }) => sum + rss, 0);
};

/** Kills one of the edges. Which agents were without any connection meanwhile, and when all had two again. */
async function killOne(edges, flocks, connections) {
  const [dead, ...others] = edges;
  const lost = dead.count;
  const before = { edges: cpuOf(others), agents: cpuOf(flocks) };
  const agents = online(flocks);
  let offline = 0;
  let half = null;
  const from = Date.now();
  await stop(dead.child);
  const back = () => total(others) - (connections - lost);
  await until(
    () => `${back()} of ${lost} back`,
    () => {
      offline = Math.max(offline, agents - online(flocks));
      if (back() >= lost / 2) half ??= (Date.now() - from) / 1000;
      return back() >= lost;
    },
  );
  const all = (Date.now() - from) / 1000;
  const cpu = { edges: cpuOf(others) - before.edges, agents: cpuOf(flocks) - before.agents };
  return { lost, offline, backTimes: { half, all }, cpu };
}

/** `socketKib`: what a TLS socket of Node takes. */
export async function flockAtEdges(agents, socketKib) {
  const { edges, keys, door, addresses } = await startEdges(agents);
  await pause(QUIET_MS);
  const before = await memoryOf(edges);
  const flocks = await startFlocks({ door, keys, host: 'gateway.test', addresses });
  const connections = 2 * agents;
  await until(
    () => `${total(edges)} of ${connections} connections`,
    () => total(edges) === connections,
  );
  await pause(QUIET_MS);
  const each = ((await memoryOf(edges)) - before) / connections / KIB;
  const result = await killOne(edges, flocks, connections);
  for (const { child } of [...flocks, ...edges]) await stop(child);
  return { connections, each, beyond: each - socketKib, ...result };
}
