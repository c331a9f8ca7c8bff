import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@gatehouse/net';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import type { NewTunnelClientView, NewTunnelView, TunnelModeName } from '@gatehouse/contracts';
import { AgentProcess } from '../tour/agent-process.js';
import type { ApiClient } from '../tour/api-client.js';
import { fetchThrough, type Entry } from '../tour/proxy-client.js';
import { started } from '../trials/started.js';
import { AgentCopies } from './agent-copies.js';
import type { Fleet } from './fleet.js';
import type { Meter } from './meter.js';
import { FILE_BYTES, FILE_NAME, type Targets } from './targets.js';
import type { UserStreams } from './user-streams.js';
import {
  atFirst,
  chat,
  dial,
  dialWebSocket,
  visitByHttp2,
  visitPage,
  visitUdp,
  type Page,
  type Place,
} from './visits.js';

const HOST = 'scale.example.org';
const BODY_BYTES = 10_000;
const PAGE: Page = { name: HOST, path: `/bytes/${BODY_BYTES}`, bytes: BODY_BYTES };
const FILE: Page = { name: 'files', path: `/${FILE_NAME}`, bytes: FILE_BYTES };
/** Modes with a port, and those that a program of the visitor leads to. */
const PORT_MODES = ['tcp', 'udp', 'socks5', 'http_proxy', 'mix_proxy', 'file'] as const;
const KEY_MODES = ['secret', 'p2p'] as const;
/** How a visitor goes through a tunnel that is a proxy. */
const ENTRIES = { socks5: 'socks5', http_proxy: 'http', mix_proxy: 'connect' } as const satisfies Record<string, Entry>;

interface Parts {
  fleet: Fleet;
  targets: Targets;
  meter: Meter;
  api: ApiClient;
  /** The build of the agents. */
  root: string;
}

/** A client with tunnels of every mode and a host, two agents that serve it together, and its visitors. */
export class TunnelUsers implements AsyncDisposable {
  private readonly ports = new Map<TunnelModeName, number>();
  private readonly programs: AgentProcess[] = [];
  private authority = '';
  /** The TCP tunnel, whose visitors are metered. */
  tunnelId = 0;

  private constructor(
    private readonly parts: Parts,
    readonly clientId: number,
    readonly agents: AgentCopies,
  ) {}

  static async open(parts: Parts): Promise<TunnelUsers> {
    const client = await parts.api.call<NewTunnelClientView>('POST', '/clients', { name: 'scale' });
    const agents = new AgentCopies({ ...client, folder: parts.targets.folder }, parts.root);
    const users = new TunnelUsers(parts, client.id, agents);
    return started(users, async () => {
      await users.addTunnels();
      await users.addHost();
    });
  }

  /** Where a tunnel's port is, at a place of an edge or of haproxy. */
  at(mode: TunnelModeName, { host }: { host: string }): Place {
    return { host, port: this.ports.get(mode) ?? 0 };
  }

  /** A connection to the echo behind the TCP tunnel. */
  async dialTunnel(place: { host: string }): Promise<Awaited<ReturnType<typeof dial>>> {
    return this.parts.meter.ofTunnel(await dial(this.at('tcp', place)));
  }

  dialWebSocket(place: Place): ReturnType<typeof dialWebSocket> {
    return dialWebSocket(place, HOST);
  }

  /** They come to haproxy, or to each edge in turn. */
  addTo(streams: UserStreams): void {
    const { fleet } = this.parts;
    const { front: host, ports } = fleet.places;
    const add = (name: string, everyMs: number, act: () => Promise<unknown>): void =>
      streams.add('visitors', name, everyMs, act);
    const each = (name: string, everyMs: number, visit: (place: Place) => Promise<unknown>): void =>
      add(`${name}, each edge in turn`, everyMs, () => atFirst(fleet.inTurn('edge'), visit));
    add('a tunnel, by haproxy', 200, async () => chat(await this.dialTunnel({ host })));
    add('a host, by haproxy', 200, () => visitPage({ host, port: ports.http }, PAGE));
    each('a tunnel', 200, async (place) => chat(await this.dialTunnel(place)));
    each('a host', 200, (place) => visitPage(place, PAGE));
    each('a host by HTTP/2', 500, (place) => visitByHttp2({ ...place, port: ports.https }, PAGE, this.authority));
    each('a WebSocket', 500, async (place) => chat(await this.dialWebSocket(place)));
    each('a tunnel of mode file', 1_000, (place) => visitPage(this.at('file', place), FILE));
    for (const [mode, entry] of Object.entries(ENTRIES) as [keyof typeof ENTRIES, Entry][])
      each(`a tunnel of mode ${mode}`, 1_000, (place) => this.goThrough(entry, this.at(mode, place)));
    for (const mode of KEY_MODES)
      add(`a tunnel of mode ${mode}`, 1_000, async () => chat(await dial(this.at(mode, { host: '127.0.0.1' }))));
    const nextEdge = (): Place => this.at('udp', fleet.inTurn('edge')[0] ?? { host });
    add('a UDP tunnel, each edge in turn', 500, () => visitUdp(nextEdge));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.programs.map((program) => program.stop()), this.agents.stop()]);
  }

  private async goThrough(entry: Entry, proxy: Place): Promise<void> {
    const { host, port } = this.parts.targets.web;
    const { status, bytes } = await fetchThrough(entry, proxy, new URL(`http://${host}:${port}${PAGE.path}`));
    if (status !== 200 || bytes !== BODY_BYTES) throw new Error(`the answer was ${status} with ${bytes} bytes`);
  }

  private async addTunnels(): Promise<void> {
    const { api, targets, fleet } = this.parts;
    const [first = 0] = fleet.places.portRange.split('-').map(Number);
    const [stream, datagrams] = [targets.stream, targets.datagrams].map(({ host, port }) => `${host}:${port}`);
    const targetOf: Partial<Record<TunnelModeName, string | undefined>> = {
      udp: datagrams,
      socks5: '',
      http_proxy: '',
      mix_proxy: '',
      file: `file://${targets.folder}?ro=1`,
    };
    const add = (mode: TunnelModeName, listen: object): Promise<NewTunnelView> =>
      api.call('POST', '/tunnels', {
        client_id: this.clientId,
        mode,
        target_addr: targetOf[mode] ?? stream,
        ...listen,
      });
    for (const [at, mode] of PORT_MODES.entries()) {
      const { id } = await add(mode, { listen_ip: '0.0.0.0', listen_port: first + at });
      this.ports.set(mode, first + at);
      if (mode === 'tcp') this.tunnelId = id;
    }
    for (const mode of KEY_MODES) {
      const { visitor_key: key } = await add(mode, {});
      const port = await freePort();
      const server = `${fleet.places.front}:${fleet.places.ports.agents}`;
      this.programs.push(AgentProcess.visit({ server, key: key ?? '', port }, this.parts.root));
      this.ports.set(mode, port);
    }
  }

  private async addHost(): Promise<void> {
    const { api, targets, fleet } = this.parts;
    const { certificate, key } = createServerIdentity(HOST);
    writeFileSync(join(fleet.certificates, 'scale.pem'), certificate);
    writeFileSync(join(fleet.certificates, 'scale.key'), key, { mode: 0o600 });
    this.authority = certificate;
    await api.call('POST', '/hosts', {
      client_id: this.clientId,
      host: HOST,
      target_addr: `http://127.0.0.1:${targets.web.port}`,
      cert_path: 'scale.pem',
      key_path: 'scale.key',
    });
  }
}
