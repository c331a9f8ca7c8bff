import { randomBytes, randomUUID } from 'node:crypto';
import { withClient } from '@gatehouse/persistence/server';
import { Origin } from '../tour/origin.js';
import type { Chance } from '../trials/chance.js';
import type { Work } from './load.js';
import { isLost, type ReplicaClient } from './replica-client.js';
import type { Entrances } from './replica-set.js';

const NODES = 40;
const SUBSCRIPTIONS = 2;
/** Stands for the id of a rule or node that was added while its answer was lost. */
const LOST = 0;

/** An administrator adds nodes and rules, changes rules, and refreshes subscriptions whose lists share nodes and change. */
export class ProxyWork implements Work {
  readonly name = 'proxy-gateway';
  private readonly added = new Set<string>();
  private readonly rules = new Map<string, number>();
  private readonly subscriptions: number[] = [];
  private readonly contradictions: string[] = [];

  private constructor(
    private readonly set: Entrances,
    private readonly administrator: ReplicaClient,
    private readonly publishers: readonly Publisher[],
  ) {}

  /** `chance`: of what the lists hold. */
  static async prepare(set: Entrances, administrator: ReplicaClient, chance: Chance): Promise<ProxyWork> {
    const publishers: Publisher[] = [];
    for (let count = 0; count < SUBSCRIPTIONS; count += 1) publishers.push(await Publisher.start(chance));
    const work = new ProxyWork(set, administrator, publishers);
    for (const { url } of publishers) {
      const body = { name: randomUUID(), url, interval_sec: 86_400, allow_private: true };
      const path = '/api/v1/subscriptions';
      const { id } = await administrator.call<{ id: number }>({ method: 'POST', path, body });
      work.subscriptions.push(id);
    }
    return work;
  }

  async step(turn: number, chance: Chance): Promise<void> {
    const choice = chance.below(5);
    if (choice === 0) await this.addNode(turn, chance);
    else if (choice === 1) await this.addRule(turn, chance);
    else if (choice === 2) await this.changeRule(turn, chance);
    else await this.refresh(turn, chance);
  }

  async brokenPromises(): Promise<string[]> {
    // What the last refresh of each says is what is there.
    for (const [at, id] of this.subscriptions.entries()) {
      this.publishers[at]?.change();
      await this.administrator.call({ method: 'POST', path: `/api/v1/subscriptions/${id}/refresh?force=true` }, at);
    }
    return await withClient(this.set.options.databaseUrl, async (client) => {
      await client.query('SET search_path = proxy_gateway');
      const broken = this.contradictions.splice(0);
      const { rows: nodes } = await client.query<{ name: string }>(
        "SELECT original_name AS name FROM nodes WHERE source = 'manual' AND original_name NOT LIKE 'sweep%'",
      );
      broken.push(
        ...differences(
          'nodes',
          [...this.added],
          nodes.map(({ name }) => name),
        ),
      );
      const { rows: rules } = await client.query<{ payload: string }>(
        "SELECT payload FROM rules WHERE source = 'manual' AND payload LIKE '%.sweep.example'",
      );
      broken.push(
        ...differences(
          'rules',
          [...this.rules.keys()],
          rules.map(({ payload }) => payload),
        ),
      );
      for (const [at, id] of this.subscriptions.entries()) {
        const { rows } = await client.query<{ server: string }>(
          'SELECT server FROM nodes JOIN node_sources ON node_id = nodes.id WHERE subscription_id = $1',
          [id],
        );
        broken.push(
          ...differences(
            'nodes of a list',
            this.publishers[at]?.servers ?? [],
            rows.map(({ server }) => server),
          ),
        );
      }
      return broken;
    });
  }

  async close(): Promise<void> {
    for (const publisher of this.publishers) await publisher.close();
  }

  private async addNode(turn: number, chance: Chance): Promise<void> {
    const id = randomBytes(8).toString('hex');
    const body = { name: id, type: 'trojan', raw_config: `trojan://sweep@m${id}.example:443#${id}` };
    if ((await this.add(turn, chance, { path: '/proxies', body })) !== undefined) this.added.add(id);
  }

  private async addRule(turn: number, chance: Chance): Promise<void> {
    const payload = `${randomBytes(8).toString('hex')}.sweep.example`;
    const body = { type: 'DOMAIN', payload, target: 'DIRECT' };
    const id = await this.add(turn, chance, { path: '/rules', body });
    if (id !== undefined) this.rules.set(payload, id);
  }

  private async changeRule(turn: number, chance: Chance): Promise<void> {
    const known = [...this.rules];
    const [payload, id] = known[chance.below(Math.max(1, known.length))] ?? [];
    if (payload === undefined || id === undefined || id === LOST) return this.addRule(turn, chance);
    const target = chance.below(2) === 0 ? 'DIRECT' : 'REJECT';
    const body = { type: 'DOMAIN', payload, target };
    const { status } = await this.administrator.insist(turn, { method: 'PUT', path: `/api/v1/rules/${id}`, body });
    if (status !== 200) this.contradictions.push(`a changed rule was answered ${status}`);
  }

  private async refresh(turn: number, chance: Chance): Promise<void> {
    const at = chance.below(this.subscriptions.length);
    this.publishers[at]?.change();
    const path = `/api/v1/subscriptions/${this.subscriptions[at]}/refresh?force=true`;
    // What it says is looked at in the end: one that meets another refresh has the answer of that one.
    await this.administrator.ask(turn, { method: 'POST', path });
  }

  /** The id of what was added, by one key at one or both replicas. */
  private async add(
    turn: number,
    chance: Chance,
    { path, body }: { path: string; body: object },
  ): Promise<number | undefined> {
    const request = { method: 'POST', path: `/api/v1${path}`, body, key: randomUUID() };
    const answers = await this.administrator.insistTwice(turn, chance, request);
    const ids = new Set(answers.map(({ status, body: { id } }) => (status === 201 ? Number(id) : undefined)));
    const [id] = ids;
    if (ids.size === 1 && id !== undefined) return id;
    if (answers.some(isLost)) return LOST;
    const said = answers.map(({ status, body: answer }) => `${status} ${JSON.stringify(answer).slice(0, 120)}`);
    this.contradictions.push(`one key at ${path} had the answers ${said.join(', ')}`);
    return undefined;
  }
}

/** A list of nodes that is another one each time it changes; lists of several publishers share nodes. */
class Publisher {
  servers: string[] = [];

  private constructor(
    private readonly origin: Origin,
    private readonly documents: Record<string, string>,
    private readonly chance: Chance,
  ) {}

  static async start(chance: Chance): Promise<Publisher> {
    const documents: Record<string, string> = {};
    const publisher = new Publisher(await Origin.start(documents), documents, chance);
    publisher.change();
    return publisher;
  }

  get url(): string {
    return `http://127.0.0.1:${this.origin.port}/list`;
  }

  change(): void {
    const all = Array.from({ length: NODES }, (_, node) => `s${node}.example`);
    this.servers = all.filter(() => this.chance.below(2) === 0);
    if (this.servers.length === 0) this.servers = all;
    this.documents['/list'] = this.servers.map((server) => `trojan://sweep@${server}:443#${server}`).join('\n');
  }

  close(): Promise<void> {
    return this.origin.close();
  }
}

function differences(what: string, promised: readonly string[], found: readonly string[]): string[] {
  const [there, wanted] = [new Set(found), new Set(promised)];
  const missing = [...wanted].filter((one) => !there.has(one)).length;
  const extra = [...there].filter((one) => !wanted.has(one)).length;
  return [
    ...(missing === 0 ? [] : [`${missing} of ${wanted.size} ${what} are missing`]),
    ...(extra === 0 ? [] : [`${extra} ${what} are there that no client was promised`]),
    ...(found.length === there.size ? [] : [`${found.length - there.size} ${what} are there twice`]),
  ];
}
