import { fork, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { programEnvironment, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EdgeLauncher } from '../src/edge-host/edge-launcher.js';
import { SteadyTransfer } from './support/steady-transfer.js';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

/** What people run: `npm run build` makes it. */
const WORKER = fileURLToPath(new URL('../bundle/worker.js', import.meta.url));
const EDGE = new URL('../bundle/edge-supervisor/supervisor-main.js', import.meta.url);
/** With their door ten processes. */
const EDGE_WORKERS = 9;
const ROLLUP_WORKERS = 2;
const ROUNDS = 4;
/** A batch a second, and the time that it takes to be written. */
const LOST_MS = 1_500;
const RECOVERY_MS = 30_000;
/** Until another process has taken over a job whose process was killed, and the next is due. */
const ROLLUP_MS = 90_000;

interface Line {
  client: AnyJson;
  tunnel: AnyJson;
  running: SteadyTransfer;
  /** Bytes of visitors that ended, and what of them may have been lost with a process. */
  sent: number;
  atRisk: number;
}

let world: TunnelWorld;
let lines: Line[] = [];
const rollups: ChildProcess[] = [];

beforeAll(async () => {
  if (!existsSync(WORKER)) throw new Error('apps/tunnel-gateway/dist is missing: run npm run build');
  const env = { TUNNEL_EDGE_WORKERS: String(EDGE_WORKERS), WORKERS: 'separate' };
  world = await TunnelWorld.start(env, undefined, new EdgeLauncher(EDGE));
  await waitFor(() => world.edges.ports.agents > 0, { timeoutMs: RECOVERY_MS });
  for (let count = 0; count < ROLLUP_WORKERS; count++) rollups.push(startRollup());
  const echo = await world.echo();
  lines = await Promise.all(
    Array.from({ length: EDGE_WORKERS }, async (): Promise<Line> => {
      const client = await world.client();
      await world.online(client.key);
      const tunnel = await world.tunnel(client.id, echo);
      return { client, tunnel, running: new SteadyTransfer(tunnel.listen_port), sent: 0, atRisk: 0 };
    }),
  );
}, 120_000);
afterAll(async () => {
  for (const { running } of lines) running.stop();
  for (const child of rollups) child.kill('SIGKILL');
  await world.close();
});

function startRollup(): ChildProcess {
  const env = { DATABASE_URL: world.gateway.databaseUrl, GATEHOUSE_HOME: world.gateway.home, LOG_LEVEL: 'error' };
  // Only this environment: what the test run itself carries must not leak in.
  return fork(WORKER, [], { env: programEnvironment(env), execArgv: [] });
}

/** Kills one of the processes that add minutes up, at work or not; another takes its place. */
async function killRollup(): Promise<void> {
  const at = randomInt(ROLLUP_WORKERS);
  const child = rollups[at];
  child?.kill('SIGKILL');
  if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  rollups[at] = startRollup();
}

/** Of these workers everything ends; their clients get new visitors when they are back. */
async function killWorkers(victims: readonly number[]): Promise<void> {
  const pids = (await world.edges.status()).workers ?? [];
  const hit = lines.filter(({ client }) => victims.includes(client.id % EDGE_WORKERS));
  expect(hit).toHaveLength(victims.length);
  const killedAt = Date.now();
  for (const victim of victims) process.kill(pids[victim] ?? 0, 'SIGKILL');
  for (const line of hit) {
    await waitFor(() => line.running.ended);
    line.sent += line.running.sent;
    line.atRisk += line.running.sent - line.running.sentBy(killedAt - LOST_MS);
  }
  for (const line of hit) {
    const { listen_port: port } = line.tunnel;
    await waitFor(async () => (await world.ask(port, '')) === '', { timeoutMs: RECOVERY_MS });
    line.running = new SteadyTransfer(port);
  }
}

function different(count: number): number[] {
  const found = new Set<number>();
  while (found.size < count) found.add(randomInt(EDGE_WORKERS));
  return [...found];
}

async function inletOf({ tunnel }: Line): Promise<number> {
  return (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.inlet_flow;
}

async function sums(): Promise<AnyJson> {
  const [row] = await world.rows(`
    SELECT (SELECT inlet_bytes + export_bytes FROM tunnel_gateway.flow_stats WHERE resource_type = 'global') AS global,
      (SELECT sum(inlet_bytes + export_bytes) FROM tunnel_gateway.flow_stats WHERE resource_type = 'user') AS users,
      (SELECT sum(inlet_bytes + export_bytes) FROM tunnel_gateway.flow_stats WHERE resource_type = 'client') AS clients,
      (SELECT sum(inlet_bytes + export_bytes) FROM tunnel_gateway.flow_stats WHERE resource_type = 'tunnel') AS tunnels,
      (SELECT sum(inlet_flow + export_flow) FROM tunnel_gateway.tunnels) AS rows,
      (SELECT sum(inlet_bytes + export_bytes) FROM tunnel_gateway_ops.flow_minutes
        WHERE resource_type = 'global') AS minutes,
      (SELECT sum(inlet_bytes + export_bytes) FROM tunnel_gateway_ops.flow_days WHERE resource_type = 'global') AS days`);
  return row;
}

describe('ten edge processes and two counting workers', () => {
  it('lose at most the last second of killed processes', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await waitFor(() => lines.every(({ running }) => running.received > 20_000), { timeoutMs: RECOVERY_MS });
      await Promise.all([killWorkers(different(1 + (round % 3))), killRollup()]);
    }
    await waitFor(() => lines.every(({ running }) => running.received > 20_000), { timeoutMs: RECOVERY_MS });
    for (const { running } of lines) running.stop();
    for (const line of lines) {
      const whole = line.sent + line.running.sent;
      // Who was never hit has no risk: then this is equality.
      const counted = await waitFor(async () => {
        const bytes = await inletOf(line);
        return bytes >= whole - line.atRisk && bytes;
      });
      expect(counted).toBeLessThanOrEqual(whole);
    }
    // All at once: what one of them has and another has not yet is on its way, or lost. A killed process may have had the turn.
    const settled = await waitFor(
      async () => {
        const all = Object.values(await sums()).map(Number);
        return new Set(all).size === 1 ? all : null;
      },
      { timeoutMs: ROLLUP_MS },
    );
    expect(settled).toHaveLength(7);
    expect(settled[0]).toBeGreaterThan(0);
  }, 180_000);

  it('lose nothing behind a door: its workers write their counters, and all of them come back', async () => {
    const before = await Promise.all(lines.map(inletOf));
    for (const line of lines) line.running = new SteadyTransfer(line.tunnel.listen_port);
    await waitFor(() => lines.every(({ running }) => running.received > 20_000), { timeoutMs: RECOVERY_MS });
    process.kill(world.edges.pid ?? 0, 'SIGKILL');
    await waitFor(() => lines.every(({ running }) => running.ended));
    for (const [index, line] of lines.entries()) {
      const { listen_port: port } = line.tunnel;
      // What came back was carried; of the rest nobody knows how far it came.
      const counted = await waitFor(async () => {
        const bytes = (await inletOf(line)) - (before[index] ?? 0);
        return bytes >= line.running.received && bytes;
      });
      expect(counted).toBeLessThanOrEqual(line.running.sent);
      await waitFor(async () => (await world.ask(port, '')) === '', { timeoutMs: RECOVERY_MS });
    }
  }, 120_000);
});
