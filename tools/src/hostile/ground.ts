import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostView, NewTunnelClientView, NewTunnelView, TunnelView } from '@gatehouse/contracts';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { eventuallyTrue } from '../trials/eventually-true.js';
import { KERNEL_PORT } from '../supervisor/service-list.js';
import { AgentProcess } from '../tour/agent-process.js';
import { ApiClient } from '../tour/api-client.js';
import { EnvelopeClient, makeReadingKey } from '../tour/envelope-client.js';
import { listenTo, RawServer } from './sockets.js';
import { oddAnswerFor } from './odd-answers.js';
import type { Platform } from './platform.js';
import { QuietOrigin } from './quiet-origin.js';

/** Entries of the folder that the hostile tenant serves as files. */
const FILES = 2_000;
const ONLINE_MS = 60_000;
/** A login of proxy-gateway lasts for an hour, unless its settings say something else. */
const LOGIN_AGAIN_MS = 1_200_000;

/** A client of the tunnel gateway with its agent, a process of its own. */
export interface Tenant {
  client: NewTunnelClientView;
  agent: AgentProcess;
  agentOptions: readonly string[];
}

/** Everything that attackers and bystanders need of a platform, made by its API and taken away again by close(). */
export class Ground {
  readonly services: Record<'proxy' | 'site' | 'tunnel', string>;
  readonly ports: Record<'proxy' | 'agents' | 'http' | 'https', number>;
  readonly proxyApi: ApiClient;
  readonly tunnelApi: ApiClient;
  /** With a key of the open API. */
  openApi = new EnvelopeClient('');
  quiet!: QuietOrigin;
  /** Answers `/odd/<n>` oddly, and `/ok` as it should. */
  odd!: RawServer;
  attacker!: Tenant;
  bystander!: Tenant;
  readonly tunnels = new Map<string, NewTunnelView>();
  readonly hosts = new Map<string, HostView>();
  private readonly undo: (() => unknown)[] = [];
  private readonly mark = randomBytes(3).toString('hex');

  private constructor(readonly platform: Platform) {
    const url = (name: string): string => platform.state.services.find((one) => one.name === name)?.url ?? '';
    this.services = { proxy: url('proxy-gateway'), site: url('resource-sharing'), tunnel: url('tunnel-gateway') };
    const port = (variable: string): number => platform.state.ports?.[variable] ?? 0;
    this.ports = {
      proxy: port(KERNEL_PORT.variable),
      agents: port('TUNNEL_AGENT_PORT'),
      http: port('TUNNEL_HTTP_PORT'),
      https: port('TUNNEL_HTTPS_PORT'),
    };
    this.proxyApi = new ApiClient(`${this.services.proxy}/api/v1`);
    this.tunnelApi = new ApiClient(`${this.services.tunnel}/api/v1`);
  }

  static async open(platform: Platform): Promise<Ground> {
    const ground = new Ground(platform);
    try {
      await ground.prepare();
      return ground;
    } catch (error) {
      await ground.close();
      throw error;
    }
  }

  tunnel(name: string): NewTunnelView {
    const found = this.tunnels.get(name);
    if (found === undefined) throw new Error(`there is no tunnel "${name}"`);
    return found;
  }

  host(name: string): string {
    const found = this.hosts.get(name);
    if (found === undefined) throw new Error(`there is no host "${name}"`);
    return found.host;
  }

  /** As a person would, when it has ended. */
  async restartAgent(tenant: Tenant): Promise<void> {
    await tenant.agent.stop();
    tenant.agent = AgentProcess.start(tenant.client, tenant.agentOptions);
    await this.online(tenant);
  }

  /** Through agents that are away everything is refused, and nothing is tried. */
  async awaitAgents(): Promise<void> {
    await Promise.all([this.online(this.attacker), this.online(this.bystander)]);
  }

  /** What has to be undone at the end, last first. */
  afterwards(undo: () => unknown): void {
    this.undo.push(undo);
  }

  async close(): Promise<void> {
    for (const undo of this.undo.toReversed()) {
      await Promise.resolve()
        .then(undo)
        .catch(() => undefined);
    }
    RawServer.closeAll();
  }

  async addClient(name: string): Promise<NewTunnelClientView> {
    const client = await this.tunnelApi.call<NewTunnelClientView>('POST', '/clients', {
      name: `hostile ${name} ${this.mark}`,
    });
    this.afterwards(() => this.tunnelApi.call('DELETE', `/clients/${client.id}`));
    return client;
  }

  async addTunnel(name: string, client: number, body: object): Promise<NewTunnelView> {
    const made = await this.tunnelApi.call<NewTunnelView>('POST', '/tunnels', {
      client_id: client,
      listen_ip: '127.0.0.1',
      listen_port: 0,
      ...body,
    });
    await eventuallyTrue(async () => {
      const now = await this.tunnelApi.call<TunnelView>('GET', `/tunnels/${made.id}`);
      made.listen_port = now.listen_port;
      return now.run_status !== 0;
    });
    this.tunnels.set(name, made);
    return made;
  }

  async addHost(name: string, client: number, body: object): Promise<HostView> {
    const host = `${name}-${this.mark}.gatehouse.example`;
    const made = await this.tunnelApi.call<HostView>('POST', '/hosts', { client_id: client, host, ...body });
    this.hosts.set(name, made);
    return made;
  }

  private async prepare(): Promise<void> {
    const { password } = this.platform;
    await this.logIn();
    const again = setInterval(() => void this.logIn().catch(() => undefined), LOGIN_AGAIN_MS);
    this.afterwards(() => clearInterval(again));
    await this.openSite(password);
    await this.goDirect();
    this.quiet = await QuietOrigin.start();
    this.afterwards(() => this.quiet.close());
    this.odd = await RawServer.start((socket) => {
      void listenTo(socket, (text) => text.includes('\r\n\r\n'), 30_000).then(({ text }) => {
        const answer = oddAnswerFor(text);
        if (answer) answer.say(socket);
        else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
        // A server that is odd once takes its time no second time.
        setTimeout(() => socket.destroy(), 20_000).unref();
      });
    });
    this.afterwards(() => this.odd.close());
    await this.openBystander();
    await this.openAttacker();
  }

  private async logIn(): Promise<void> {
    const { password } = this.platform;
    await this.proxyApi.login(password);
    await this.tunnelApi.login(password, 'admin');
  }

  /** A group may choose a hostile node as soon as there is one: bystanders do not leave that to it. */
  private async goDirect(): Promise<void> {
    const rule = await this.proxyApi.call<{ id: number }>('POST', '/rules', {
      type: 'IP-CIDR',
      payload: '127.0.0.0/8',
      target: 'DIRECT',
      no_resolve: true,
      priority: 2,
    });
    this.afterwards(() => this.proxyApi.call('DELETE', `/rules/${rule.id}`));
  }

  private async openSite(password: string): Promise<void> {
    const administrator = new EnvelopeClient(this.services.site);
    const made = await makeReadingKey(administrator, password, `hostile ${this.mark}`);
    this.afterwards(() => administrator.ask('DELETE', `/api/site/keys/${made.id}`));
    this.openApi = new EnvelopeClient(this.services.site, { 'x-api-key': made.secret });
  }

  private async openBystander(): Promise<void> {
    this.bystander = await this.openTenant('bystander', []);
    const { id } = this.bystander.client;
    await this.addTunnel('tcp', id, { mode: 'tcp', target_addr: `127.0.0.1:${this.quiet.port}` });
    await this.addTunnel('udp', id, { mode: 'udp', target_addr: `127.0.0.1:${this.quiet.udpPort}` });
    await this.addTunnel('secret', id, { mode: 'secret', target_addr: `127.0.0.1:${this.quiet.port}` });
    const target_addr = `http://127.0.0.1:${this.quiet.port}`;
    const certificate = this.keepCertificate();
    await this.addHost('plain', id, { target_addr, ...certificate });
    const guarded = await this.addHost('guarded', id, { target_addr });
    await this.guard(guarded, await this.callbackServer(true));
  }

  private async openAttacker(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hostile-files-'));
    this.afterwards(() => rmSync(folder, { recursive: true, force: true }));
    for (let at = 0; at < FILES; at += 1) writeFileSync(join(folder, `file-${at}.txt`), 'x'.repeat(100));
    this.attacker = await this.openTenant('attacker', ['--allow-file-root', folder]);
    const { id } = this.attacker.client;
    for (const mode of ['http_proxy', 'mix_proxy'] as const) await this.addTunnel(mode, id, { mode, target_addr: '' });
    await this.addTunnel('file', id, { mode: 'file', target_addr: `file://${folder}` });
    await this.addTunnel('attacker tcp', id, { mode: 'tcp', target_addr: `127.0.0.1:${this.odd.port}` });
    await this.addHost('odd', id, { target_addr: `http://127.0.0.1:${this.odd.port}` });
    const trap = await this.addHost('trap', id, { target_addr: `http://127.0.0.1:${this.odd.port}` });
    await this.guard(trap, await this.callbackServer(false));
  }

  private async openTenant(name: string, agentOptions: readonly string[]): Promise<Tenant> {
    const client = await this.addClient(name);
    const tenant: Tenant = { client, agentOptions, agent: AgentProcess.start(client, agentOptions) };
    this.afterwards(() => tenant.agent.stop());
    await this.online(tenant);
    return tenant;
  }

  private async online({ client: { id } }: Tenant): Promise<void> {
    const isOnline = async (): Promise<boolean> => {
      const { online } = await this.tunnelApi.call<{ online: boolean | null }>('GET', `/clients/${id}`);
      return online === true;
    };
    if (!(await eventuallyTrue(isOnline, ONLINE_MS))) throw new Error('an agent does not come online');
  }

  private keepCertificate(): { cert_path: string; key_path: string } {
    const folder = join(this.platform.home, 'tunnel-gateway', 'certificates');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { certificate, key } = createServerIdentity(`hostile-${this.mark}`);
    const names = { cert_path: `hostile-${this.mark}.pem`, key_path: `hostile-${this.mark}.key` };
    writeFileSync(join(folder, names.cert_path), certificate, { mode: 0o600 });
    writeFileSync(join(folder, names.key_path), key, { mode: 0o600 });
    this.afterwards(() => Object.values(names).forEach((name) => rmSync(join(folder, name), { force: true })));
    return names;
  }

  private async guard(host: HostView, port: number): Promise<void> {
    await this.tunnelApi.call('POST', '/auth-policies', {
      resource_type: 'host',
      resource_id: host.id,
      type: 'callback',
      callback_url: `http://127.0.0.1:${port}/check`,
      allow_private: true,
      ttl_seconds: 0,
    });
  }

  /** One that lets everybody in, or one that answers each question with an upgrade that nobody asked for. */
  private async callbackServer(isHonest: boolean): Promise<number> {
    if (!isHonest) {
      const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
      const trap = await RawServer.start((socket) => void socket.once('data', () => socket.write(answer)));
      this.afterwards(() => trap.close());
      return trap.port;
    }
    const server: Server = createServer((_, response) => void response.writeHead(204).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.afterwards(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
}
