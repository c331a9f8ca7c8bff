import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { withClient } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseLine } from './support/database-line.js';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

/** The file that people run: `npm run build` makes it. */
const BUNDLE = fileURLToPath(new URL('../../tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url));
const TRANSFERS = 200;
/** Visitors before them, and what they say. */
const FIRST = 8;
const QUESTION = 'first';
const FIRST_BYTES = FIRST * QUESTION.length;
const RECOVERY_MS = 15_000;
/** What runs meets its end within this where it has to end. */
const FAST_MS = 5_000;

let world: TunnelWorld;
let line: DatabaseLine;

beforeAll(async () => {
  if (!existsSync(BUNDLE)) throw new Error('apps/tunnel-agent/dist is missing: run npm run build');
  world = await TunnelWorld.start({}, async (url) => {
    line = await DatabaseLine.to(url);
    return line.url;
  });
});
afterAll(async () => {
  line.mend();
  await world.close();
  await line.close();
});

/** A visitor that sends a piece, waits until it is back, and so on. */
class Transfer {
  readonly socket: Socket;
  sent = 0;
  received = 0;
  ended = false;
  #stopped = false;
  /** Bytes sent, in order, with when. */
  readonly #piece = Buffer.alloc(2_000, 'x');

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.on('error', () => undefined).on('close', () => (this.ended = true));
    this.socket.on('connect', () => this.#send());
    this.socket.on('data', (part) => {
      this.received += part.length;
      // Not as fast as it goes: what is looked at is who survives.
      if (this.received === this.sent) setTimeout(() => this.#send(), 25);
    });
  }

  /** Sends nothing more; what is on its way comes back. */
  stop(): void {
    this.#stopped = true;
  }

  #send(): void {
    if (this.#stopped || this.ended || this.socket.destroyed) return;
    this.sent += this.#piece.length;
    this.socket.write(this.#piece);
  }
}

interface Running {
  client: AnyJson;
  tunnel: AnyJson;
  transfers: Transfer[];
  agent: ChildProcess;
}

function startAgent(key: string): ChildProcess {
  const server = `127.0.0.1:${world.edges.ports.agents}`;
  const child = spawn(process.execPath, [BUNDLE, '--server', server, '--key', key], { env: {}, stdio: 'ignore' });
  world.onClose(() => child.kill('SIGKILL'));
  return child;
}

/** A tunnel of an agent's own process, with all transfers on their way. */
async function begin(): Promise<Running> {
  const client = await world.client();
  const agent = startAgent(client.key);
  const tunnel = await world.tunnel(client.id, await world.echo());
  // There are idle channels that had a visitor, too.
  for (let visitor = 0; visitor < FIRST; visitor++) {
    const said = await waitFor(() => world.ask(tunnel.listen_port, QUESTION), { timeoutMs: 10_000 });
    expect(said).toBe(QUESTION);
  }
  const transfers = Array.from({ length: TRANSFERS }, () => new Transfer(tunnel.listen_port));
  await waitFor(() => transfers.every(({ received }) => received > 0), { timeoutMs: 10_000 });
  return { client, tunnel, transfers, agent };
}

async function finish({ transfers, agent }: Running): Promise<void> {
  for (const { socket } of transfers) socket.destroy();
  agent.kill('SIGKILL');
  await waitFor(() => transfers.every(({ ended }) => ended));
}

function received(transfers: readonly Transfer[]): number {
  return transfers.reduce((sum, transfer) => sum + transfer.received, 0);
}

function sent(transfers: readonly Transfer[]): number {
  return transfers.reduce((sum, transfer) => sum + transfer.sent, 0);
}

async function counted(id: number): Promise<{ inlet: number; export: number }> {
  const [row] = await world.rows(
    'SELECT sum(inlet_bytes)::float8 AS inlet, sum(export_bytes)::float8 AS export FROM tunnel_gateway.flow_stats WHERE resource_type = $1 AND resource_id = $2',
    ['client', id],
  );
  return { inlet: row?.inlet ?? 0, export: row?.export ?? 0 };
}

async function servesAgain(port: number): Promise<void> {
  await waitFor(async () => (await world.ask(port, 'again')) === 'again', { timeoutMs: RECOVERY_MS, intervalMs: 100 });
}

describe(`${TRANSFERS} transfers`, () => {
  it('go on while every connection to PostgreSQL is cut repeatedly, and are counted to the byte', async () => {
    const running = await begin();
    const { client, transfers } = running;
    for (let round = 0; round < 3; round++) {
      const before = received(transfers);
      await withClient(world.gateway.databaseUrl, (database) =>
        database.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        ),
      );
      line.cut();
      await waitFor(() => received(transfers) > before + TRANSFERS * 10_000, { timeoutMs: RECOVERY_MS });
      line.mend();
    }
    expect(transfers.filter(({ ended }) => ended)).toEqual([]);
    for (const transfer of transfers) transfer.stop();
    await waitFor(() => transfers.every((transfer) => transfer.received === transfer.sent));
    const all = transfers.map(({ socket }) => once(socket, 'close'));
    for (const { socket } of transfers) socket.destroy();
    await Promise.all(all);
    const total = sent(transfers) + FIRST_BYTES;
    await waitFor(async () => (await counted(client.id)).inlet >= total, { timeoutMs: RECOVERY_MS });
    expect((await counted(client.id)).inlet).toBe(total);
    expect((await counted(client.id)).export).toBe(received(transfers) + FIRST_BYTES);
    await finish(running);
  }, 120_000);

  it('end at once when the agent is killed; another agent takes over, and no transferred byte is lost', async () => {
    const running = await begin();
    const { client, tunnel, transfers, agent } = running;
    const from = performance.now();
    agent.kill('SIGKILL');
    await waitFor(() => transfers.every(({ ended }) => ended), { timeoutMs: FAST_MS });
    expect(performance.now() - from).toBeLessThan(FAST_MS);
    expect(await world.ask(tunnel.listen_port, 'nobody')).toBeNull();
    const successor = startAgent(client.key);
    await servesAgain(tunnel.listen_port);
    const [least, most] = [received(transfers), sent(transfers) + FIRST_BYTES + 5];
    await waitFor(async () => (await counted(client.id)).export >= least);
    expect((await counted(client.id)).inlet).toBeLessThanOrEqual(most);
    expect((await counted(client.id)).inlet).toBeGreaterThanOrEqual(least);
    successor.kill('SIGKILL');
    await finish(running);
  }, 120_000);

  it('end at once when the edge is killed; the next edge has its ports, and at most one second is lost', async () => {
    const running = await begin();
    const { client, tunnel, transfers } = running;
    const marks: [at: number, bytes: number][] = [];
    const watch = setInterval(() => marks.push([performance.now(), received(transfers)]), 50);
    await waitFor(() => marks.length > 60);
    const before = world.edges.pid ?? 0;
    process.kill(before, 'SIGKILL');
    const killed = performance.now();
    clearInterval(watch);
    await waitFor(() => transfers.every(({ ended }) => ended), { timeoutMs: FAST_MS });
    await servesAgain(tunnel.listen_port);
    expect(performance.now() - killed).toBeLessThan(RECOVERY_MS);
    expect(world.edges.pid).not.toBe(before);
    // A count each second, and the time that the database takes for it on a busy machine.
    const then = marks.findLast(([at]) => at < killed - 1_500)?.[1] ?? 0;
    expect(then).toBeGreaterThan(0);
    const after = await counted(client.id);
    expect(after.export).toBeGreaterThanOrEqual(then);
    expect(after.export).toBeLessThanOrEqual(sent(transfers) + 100);
    await finish(running);
  }, 120_000);

  it('leave no port open when the client is deleted', async () => {
    const running = await begin();
    const { client, tunnel, transfers } = running;
    expect((await world.admin('DELETE', `/clients/${client.id}`)).status).toBe(204);
    await waitFor(() => transfers.every(({ ended }) => ended), { timeoutMs: FAST_MS });
    await waitFor(async () => {
      const socket = connect(tunnel.listen_port, '127.0.0.1');
      const [error] = (await once(socket, 'connect').catch((reason: unknown) => [reason])) as [unknown];
      socket.destroy();
      return (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
    });
    await finish(running);
  }, 120_000);
});
