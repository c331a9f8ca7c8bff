import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TunnelEdgeView } from '@gatehouse/contracts';
import { ApiClient } from '../tour/api-client.js';
import { EnvelopeClient } from '../tour/envelope-client.js';
import { fetchThrough } from '../tour/proxy-client.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { started } from '../trials/started.js';
import type { AgentCopies } from './agent-copies.js';
import type { Copy } from './copy.js';
import { edgeName } from './environments.js';
import type { Fleet } from './fleet.js';
import { Meter } from './meter.js';
import { openAll, type OpenFlows } from './open-flows.js';
import { Targets } from './targets.js';
import { TunnelUsers } from './tunnel-users.js';
import { UserStreams } from './user-streams.js';
import { atFirst, chat, dialThrough, type Place } from './visits.js';

const SETTLED_MS = 120_000;
const DOWNLOAD_BYTES = 1_000_000;

export interface LoadOptions {
  home: string;
  root: string;
  slowness: number;
}

/** People and programs that use every copy of a fleet. */
export class PlatformLoad implements AsyncDisposable {
  readonly streams: UserStreams;
  readonly meter = new Meter();
  private tunnels!: TunnelUsers;
  private api!: ApiClient;

  private constructor(
    private readonly fleet: Fleet,
    private readonly targets: Targets,
    slowness: number,
  ) {
    this.streams = new UserStreams(slowness);
  }

  /** `home`: a folder of its own. `root`: the build of the agents. `slowness`: see {@link UserStreams}. */
  static async begin(fleet: Fleet, { home, root, slowness }: LoadOptions): Promise<PlatformLoad> {
    const load = new PlatformLoad(fleet, await Targets.start(home), slowness);
    return started(load, () => load.open(root));
  }

  get agentCopies(): AgentCopies {
    return this.tunnels.agents;
  }

  /** The tunnel whose visitors are metered. */
  get tunnelId(): number {
    return this.tunnels.tunnelId;
  }

  /** Connections through each edge and each kernel that is ready, which stay open; each has the name of its copy. */
  async openFlows(): Promise<OpenFlows> {
    const { fleet } = this;
    const there = fleet.copies.filter((copy) => fleet.isReady(copy));
    const dialed = there.flatMap((copy) => this.waysThrough(copy).map((dial) => ({ name: copy.name, dial })));
    return openAll(dialed);
  }

  /** Names of edges without an agent of their own: others carry their visitors. */
  async edgesWithoutAgents(): Promise<string[]> {
    const { items } = await this.api.call<{ items: TunnelEdgeView[] }>('GET', '/edges');
    const without = new Set(items.filter(({ agents }) => agents === 0).map(({ name }) => name));
    return this.fleet.copiesOf('edge').flatMap(({ name, index }) => (without.has(edgeName(index)) ? [name] : []));
  }

  /** Whether users are served through that edge or kernel. */
  async isServedBy({ role, place }: Pick<Copy, 'role' | 'place'>): Promise<boolean> {
    if (role === 'edge') await chat(await this.tunnels.dialTunnel(place));
    if (role === 'kernel') await chat(await dialThrough(place, this.targets.stream));
    return true;
  }

  private waysThrough({ role, place }: Copy): (() => Promise<Socket>)[] {
    const { tunnels, targets } = this;
    if (role === 'edge') return [() => tunnels.dialTunnel(place), () => tunnels.dialWebSocket(place)];
    return role === 'kernel' ? [() => dialThrough(place, targets.stream)] : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.streams.stop();
    await this.tunnels?.[Symbol.asyncDispose]();
    await this.targets[Symbol.asyncDispose]();
  }

  private async open(root: string): Promise<void> {
    const { fleet, targets, meter, streams } = this;
    const { places, password } = fleet;
    const api = new ApiClient(`${places.url('tunnel-gateway')}/api/v1`);
    this.api = api;
    const proxy = new ApiClient(`${places.url('proxy-gateway')}/api/v1`);
    const isThere = async (): Promise<boolean> => {
      await api.login(password, 'admin');
      await proxy.login(password);
      return fleet.copies.every((copy) => fleet.isReady(copy));
    };
    if (!(await eventuallyTrue(isThere, SETTLED_MS))) throw new Error('not every copy is ready');
    // What the proxy leads to here is on this machine, whatever nodes there will be.
    await proxy.call('POST', '/rules', { raw: 'IP-CIDR,127.0.0.0/8,DIRECT' });
    this.tunnels = await TunnelUsers.open({ fleet, targets, meter, api, root });
    this.tunnels.addTo(streams);
    this.goThroughProxy();
    await this.askServices(proxy, api, this.tunnels.clientId);
    const settled = await eventuallyTrue(() => Promise.resolve(streams.isWell()), SETTLED_MS);
    if (!settled) {
      const { failures } = streams;
      throw new Error([`not everything works at the start: ${streams.unwell().join(', ')}`, ...failures].join('\n'));
    }
    streams.failures.length = 0;
  }

  private goThroughProxy(): void {
    const { fleet, streams, targets } = this;
    const balanced = { host: fleet.places.front, port: fleet.places.ports.kernel };
    const { host, port } = targets.web;
    const file = new URL(`http://${host}:${port}/bytes/${DOWNLOAD_BYTES}`);
    streams.add('proxied', 'the proxy, by haproxy', 200, () => this.chatThrough(balanced));
    streams.add('proxied', 'the proxy, each kernel in turn', 200, () =>
      atFirst(fleet.inTurn('kernel'), (place) => this.chatThrough(place)),
    );
    streams.add('proxied', 'a download, by haproxy', 1_000, async () => {
      const { status, bytes } = await fetchThrough('http', balanced, file);
      if (status !== 200 || bytes !== DOWNLOAD_BYTES) throw new Error(`the answer was ${status} with ${bytes} bytes`);
      this.meter.proxied += 1;
    });
  }

  private async chatThrough(proxy: Place): Promise<void> {
    await chat(await dialThrough(proxy, this.targets.stream));
    this.meter.proxied += 1;
  }

  /** Reads, and writes that every copy and both data planes follow. */
  private async askServices(proxy: ApiClient, tunnels: ApiClient, clientId: number): Promise<void> {
    const { fleet, streams } = this;
    const url = fleet.places.url('resource-sharing');
    const sharing = new EnvelopeClient(url);
    await sharing.call('POST', '/api/site/login', { username: 'admin', password: fleet.password });
    const wish = { name: 'scale', scopes: ['meta', 'query', 'write'], current_password: fleet.password };
    const { secret } = await sharing.call<{ secret: string }>('POST', '/api/site/keys', wish);
    const open = new EnvelopeClient(url, { 'x-api-key': secret });
    const ask = (name: string, everyMs: number, act: () => Promise<unknown>): void =>
      streams.add('requests', name, everyMs, act);
    ask('GET /api/open/ping', 200, () => open.call('GET', '/api/open/ping'));
    ask('POST /api/open/shares', 1_000, () => open.call('POST', '/api/open/shares', share()));
    ask('GET /rules', 500, () => proxy.call('GET', '/rules'));
    ask('POST and DELETE /rules', 1_000, async () => {
      const raw = `DOMAIN,${randomBytes(6).toString('hex')}.scale.example,REJECT`;
      const { id } = await proxy.call<{ id: number }>('POST', '/rules', { raw });
      await proxy.call('DELETE', `/rules/${id}`);
    });
    ask('GET /clients', 500, () => tunnels.call('GET', '/clients'));
    ask('PATCH /clients/{id}', 1_000, () =>
      tunnels.call('PATCH', `/clients/${clientId}`, { name: `scale ${randomBytes(4).toString('hex')}` }),
    );
  }
}

function share(): object {
  const url = `https://115.com/s/${randomBytes(16).toString('hex')}?password=a1b2`;
  return { media_type: 'movie', tmdb_id: '550', url, title: 'Shared by a rehearsal', unlock_points: 0 };
}
