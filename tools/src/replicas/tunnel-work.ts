import { randomBytes, randomUUID } from 'node:crypto';
import type { NewTunnelClientView } from '@gatehouse/contracts';
import { withClient } from '@gatehouse/persistence/server';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { AgentProcess } from '../tour/agent-process.js';
import { Origin } from '../tour/origin.js';
import { fetchThroughPort } from '../tour/port-visitor.js';
import type { Chance } from '../trials/chance.js';
import type { Work } from './load.js';
import { isLost, type ReplicaClient } from './replica-client.js';
import type { ReplicaSet } from './replica-set.js';

const BODY_BYTES = 10_000;
const WRITTEN_MS = 60_000;

/** An administrator adds clients and changes them, while visitors use a tunnel whose bytes are counted. */
export class TunnelWork implements Work {
  readonly name = 'tunnel-gateway';
  private readonly clients = new Set<string>();
  private readonly contradictions: string[] = [];
  private received = 0;
  private tunnelId = 0;
  private clientId = 0;
  private port = 0;
  private agent: AgentProcess | undefined;

  private constructor(
    private readonly set: ReplicaSet,
    private readonly administrator: ReplicaClient,
    private readonly origin: Origin,
  ) {}

  static async prepare(set: ReplicaSet, administrator: ReplicaClient): Promise<TunnelWork> {
    const work = new TunnelWork(set, administrator, await Origin.start());
    await work.open();
    return work;
  }

  async step(turn: number, chance: Chance): Promise<void> {
    const choice = chance.below(4);
    if (choice === 0) await this.addClient(turn, chance);
    else if (choice === 1) await this.changeClient(turn);
    else await this.download();
  }

  async brokenPromises(): Promise<string[]> {
    const { databaseUrl } = this.set.options;
    let counted = 0;
    const isCounted = await eventuallyTrue(async () => {
      counted = await withClient(databaseUrl, async (client) => {
        const sql = 'SELECT export_flow::float8 AS n FROM tunnel_gateway.tunnels WHERE id = $1';
        const { rows } = await client.query<{ n: number }>(sql, [this.tunnelId]);
        return rows[0]?.n ?? 0;
      });
      return counted >= this.received;
    }, WRITTEN_MS);
    const names = await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        "SELECT name FROM tunnel_gateway.clients WHERE name LIKE 'c-%'",
      );
      return rows.map(({ name }) => name);
    });
    return [
      ...this.contradictions.splice(0),
      ...(isCounted && counted === this.received ? [] : [`bytes: ${this.received} came, ${counted} are counted`]),
      ...(names.length === this.clients.size && names.every((name) => this.clients.has(name))
        ? []
        : [`clients: ${this.clients.size} were promised, ${names.length} are there`]),
    ];
  }

  async close(): Promise<void> {
    await this.agent?.stop();
    await this.origin.close();
  }

  private async open(): Promise<void> {
    const { administrator } = this;
    const request = { method: 'POST', path: '/api/v1/clients', body: { name: 'sweep' } };
    const client = await administrator.call<NewTunnelClientView>(request);
    this.clientId = client.id;
    this.agent = AgentProcess.start(client);
    const target = { client_id: client.id, mode: 'tcp', listen_ip: '127.0.0.1', listen_port: 0 };
    const made = await administrator.call<{ id: number }>({
      method: 'POST',
      path: '/api/v1/tunnels',
      body: { ...target, target_addr: `127.0.0.1:${this.origin.port}` },
    });
    this.tunnelId = made.id;
    const path = `/api/v1/tunnels/${made.id}`;
    const runs = await eventuallyTrue(async () => {
      const tunnel = await administrator.call<{ run_status: number; listen_port: number }>({ method: 'GET', path });
      this.port = tunnel.listen_port;
      return tunnel.run_status === 1 && (await this.download());
    }, WRITTEN_MS);
    if (!runs) throw new Error('the tunnel of the sweep does not run');
  }

  private async addClient(turn: number, chance: Chance): Promise<void> {
    const name = `c-${randomBytes(8).toString('hex')}`;
    const request = { method: 'POST', path: '/api/v1/clients', body: { name }, key: randomUUID() };
    const answers = await this.administrator.insistTwice(turn, chance, request);
    const ids = new Set(answers.map(({ status, body: { id } }) => (status === 201 ? Number(id) : undefined)));
    if ((ids.size === 1 && !ids.has(undefined)) || answers.some(isLost)) this.clients.add(name);
    else this.contradictions.push(`one key had the answers ${answers.map(({ status }) => status).join(', ')}`);
  }

  private async changeClient(turn: number): Promise<void> {
    const path = `/api/v1/clients/${this.clientId}`;
    const body = { name: `sweep ${randomUUID()}` };
    const { status } = await this.administrator.insist(turn, { method: 'PATCH', path, body });
    if (status !== 200) this.contradictions.push(`a changed client was answered ${status}`);
  }

  private async download(): Promise<boolean> {
    const { received } = await fetchThroughPort(this.port, `/bytes/${BODY_BYTES}`);
    this.received += received;
    return received > BODY_BYTES;
  }
}
