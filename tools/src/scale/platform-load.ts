import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import type { NewTunnelClientView, TunnelView } from '@gatehouse/contracts';
import { ApiClient } from '../tour/api-client.js';
import { EnvelopeClient } from '../tour/envelope-client.js';
import { Origin } from '../tour/origin.js';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { started } from '../trials/started.js';
import { AgentCopies } from './agent-copies.js';
import type { Fleet } from './fleet.js';
import { UserTraffic, type Tally } from './user-traffic.js';
import { chat, dial, dialThrough, Flow, visitHost, visitUdp, type Place } from './visits.js';

const HOST = 'scale.example.org';
const BODY_BYTES = 10_000;
const SETTLED_MS = 120_000;
const MAX_FAILURES = 20;
/** Of each kind of use. */
const USERS = 2;

/** What a user does: asks an API, visits a tunnel or a host, goes through the proxy. */
export type Kind = 'requests' | 'visitors' | 'proxied';
export const KINDS: readonly Kind[] = ['requests', 'visitors', 'proxied'];

/** People and programs that use every copy of a fleet. */
export class PlatformLoad implements AsyncDisposable {
  /** What went wrong, the first few. */
  readonly failures: string[] = [];
  private readonly streams: { kind: Kind; traffic: UserTraffic }[] = [];
  private tunnelPort = 0;
  private datagramPort = 0;
  private agents: AgentCopies | undefined;

  private constructor(
    private readonly fleet: Fleet,
    private readonly origin: Origin,
    private readonly echo: Server,
    private readonly datagramEcho: ReturnType<typeof createSocket>,
  ) {}

  /** @param root the build of the agents */
  static async begin(fleet: Fleet, root: string): Promise<PlatformLoad> {
    const load = new PlatformLoad(fleet, await Origin.start(), await startEcho(), await startDatagramEcho());
    return started(load, () => load.open(root));
  }

  get agentCopies(): AgentCopies {
    if (this.agents === undefined) throw new Error('there are no agents');
    return this.agents;
  }

  /** Connections through each edge and each kernel that is ready, which stay open. */
  async openFlows(): Promise<Flow[]> {
    const { fleet } = this;
    const there = fleet.copies.filter((copy) => fleet.isReady(copy));
    return Promise.all(
      there.flatMap((copy) => {
        if (copy.role === 'edge')
          return [dial(this.tunnelAt(copy.place)).then((socket) => new Flow(copy.name, socket))];
        if (copy.role !== 'kernel') return [];
        return [dialThrough(copy.place, this.target).then((socket) => new Flow(copy.name, socket))];
      }),
    );
  }

  /** Whether users are served through that edge or kernel. */
  async isServedBy(copy: { role: string; place: Place }): Promise<boolean> {
    if (copy.role === 'edge') await chat(await dial(this.tunnelAt(copy.place)));
    if (copy.role === 'kernel') await chat(await dialThrough(copy.place, this.target));
    return true;
  }

  async since(moment: number): Promise<Record<Kind, Tally>> {
    const tally = { requests: zero(), visitors: zero(), proxied: zero() };
    for (const { kind, traffic } of this.streams) {
      const { done, failed } = await traffic.since(moment);
      tally[kind].done += done;
      tally[kind].failed += failed;
    }
    return tally;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.streams.map(({ traffic }) => traffic.stop()));
    await this.agents?.stop();
    await this.origin.close();
    this.datagramEcho.close();
    this.echo.close();
  }

  private get target(): Place {
    return { host: '127.0.0.1', port: (this.echo.address() as AddressInfo).port };
  }

  private tunnelAt({ host }: Place): Place {
    return { host, port: this.tunnelPort };
  }

  private async open(root: string): Promise<void> {
    const { fleet } = this;
    const { places, password } = fleet;
    const tunnels = new ApiClient(`${places.url('tunnel-gateway')}/api/v1`);
    const proxy = new ApiClient(`${places.url('proxy-gateway')}/api/v1`);
    const all = (): Promise<boolean> => Promise.resolve(fleet.copies.every((copy) => fleet.isReady(copy)));
    const isThere = async (): Promise<boolean> => {
      await tunnels.login(password, 'admin');
      await proxy.login(password);
      return all();
    };
    if (!(await eventuallyTrue(isThere, SETTLED_MS))) throw new Error('not every copy is ready');
    const clientId = await this.openTunnels(tunnels, root);
    this.visit();
    this.goThroughProxy();
    await this.askServices(proxy, tunnels, clientId);
    const settled = await eventuallyTrue(
      () => Promise.resolve(this.streams.every(({ traffic }) => traffic.isWell())),
      SETTLED_MS,
    );
    if (!settled) throw new Error(`not everything works before the first replacement: ${this.failures.at(-1)}`);
    this.failures.length = 0;
  }

  private async openTunnels(api: ApiClient, root: string): Promise<number> {
    const { places } = this.fleet;
    const client = await api.call<NewTunnelClientView>('POST', '/clients', { name: 'scale' });
    this.agents = new AgentCopies(client, root);
    const [first = 0] = places.portRange.split('-').map(Number);
    [this.tunnelPort, this.datagramPort] = [first, first + 1];
    const shared = { client_id: client.id, listen_ip: '0.0.0.0' };
    const udpPort = this.datagramEcho.address().port;
    await api.call<TunnelView>('POST', '/tunnels', {
      ...shared,
      mode: 'tcp',
      listen_port: this.tunnelPort,
      target_addr: `127.0.0.1:${this.target.port}`,
    });
    await api.call<TunnelView>('POST', '/tunnels', {
      ...shared,
      mode: 'udp',
      listen_port: this.datagramPort,
      target_addr: `127.0.0.1:${udpPort}`,
    });
    await api.call('POST', '/hosts', {
      client_id: client.id,
      host: HOST,
      target_addr: `http://127.0.0.1:${this.origin.port}`,
    });
    return client.id;
  }

  private visit(): void {
    const { fleet } = this;
    const { front, ports } = fleet.places;
    this.add('visitors', 'a tunnel, by haproxy', 100, async () =>
      chat(await dial(this.tunnelAt({ host: front, port: 0 }))),
    );
    this.add('visitors', 'a host, by haproxy', 100, () =>
      visitHost({ host: front, port: ports.http }, HOST, BODY_BYTES),
    );
    this.add('visitors', 'a tunnel, each edge in turn', 100, async () =>
      chat(await dial(this.tunnelAt(fleet.next('edge').place))),
    );
    this.add('visitors', 'a host, each edge in turn', 100, () => visitHost(fleet.next('edge').place, HOST, BODY_BYTES));
    this.add('visitors', 'a UDP tunnel, each edge in turn', 200, () =>
      visitUdp({ host: fleet.next('edge').place.host, port: this.datagramPort }),
    );
  }

  private goThroughProxy(): void {
    const { fleet, target } = this;
    const balanced = { host: fleet.places.front, port: fleet.places.ports.kernel };
    this.add('proxied', 'the proxy, by haproxy', 100, async () => chat(await dialThrough(balanced, target)));
    this.add('proxied', 'the proxy, each kernel in turn', 100, async () =>
      chat(await dialThrough(fleet.next('kernel').place, target)),
    );
  }

  /** Reads, and writes that every copy and both data planes follow. */
  private async askServices(proxy: ApiClient, tunnels: ApiClient, clientId: number): Promise<void> {
    const { fleet } = this;
    const sharing = new EnvelopeClient(fleet.places.url('resource-sharing'));
    await sharing.call('POST', '/api/site/login', { username: 'admin', password: fleet.password });
    await liftQuotas(sharing);
    const wish = { name: 'scale', scopes: ['meta', 'query', 'write'], current_password: fleet.password };
    const { secret } = await sharing.call<{ secret: string }>('POST', '/api/site/keys', wish);
    const open = new EnvelopeClient(fleet.places.url('resource-sharing'), { 'x-api-key': secret });
    this.add('requests', 'GET /api/open/ping', 100, () => open.call('GET', '/api/open/ping'));
    this.add('requests', 'POST /api/open/shares', 1_000, () => open.call('POST', '/api/open/shares', share()));
    this.add('requests', 'GET /rules', 200, () => proxy.call('GET', '/rules'));
    this.add('requests', 'POST and DELETE /rules', 2_000, async () => {
      const raw = `DOMAIN,${randomBytes(6).toString('hex')}.scale.example,REJECT`;
      const { id } = await proxy.call<{ id: number }>('POST', '/rules', { raw });
      await proxy.call('DELETE', `/rules/${id}`);
    });
    this.add('requests', 'GET /clients', 200, () => tunnels.call('GET', '/clients'));
    this.add('requests', 'PATCH /clients/{id}', 1_000, () =>
      tunnels.call('PATCH', `/clients/${clientId}`, { name: `scale ${randomBytes(4).toString('hex')}` }),
    );
  }

  private add(kind: Kind, name: string, pauseMs: number, act: () => Promise<unknown>): void {
    const noted = async (): Promise<void> => {
      const startedAt = new Date().toISOString().slice(11, 23);
      try {
        await act();
      } catch (error) {
        if (this.failures.length < MAX_FAILURES) this.failures.push(`${startedAt} ${name}: ${describe(error)}`);
        throw error;
      }
    };
    this.streams.push({ kind, traffic: new UserTraffic(USERS, pauseMs, noted) });
  }
}

const zero = (): Tally => ({ done: 0, failed: 0 });

/** On a fast machine, a few users ask for more than one may in a minute: a quota profile without fields has no limits. */
async function liftQuotas(administrator: EnvelopeClient): Promise<void> {
  const profiles = await administrator.call<{ name: string }[]>('GET', '/api/site/admin/quota-profiles');
  for (const { name } of profiles) await administrator.call('PUT', `/api/site/admin/quota-profiles/${name}`, {});
}

function share(): object {
  const url = `https://115.com/s/${randomBytes(16).toString('hex')}?password=a1b2`;
  return { media_type: 'movie', tmdb_id: '550', url, title: 'Shared by a rehearsal', unlock_points: 0 };
}

/** With what is behind a failed fetch. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${String(error)}${cause}`;
}

async function startEcho(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    socket.on('error', () => undefined).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startDatagramEcho(): Promise<ReturnType<typeof createSocket>> {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  socket.on('message', (message, from) => socket.send(message, from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
