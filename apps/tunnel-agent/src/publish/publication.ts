import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { pathToFileURL } from 'node:url';
import type {
  DomainPage,
  HostView,
  NewTunnelClientView,
  NewTunnelView,
  TunnelGatewayView,
  TunnelUserView,
} from '@gatehouse/contracts';
import { formatAuthority, formatHostPort } from '@gatehouse/net';
import { Complaint, UsageError } from '../options/command-line.js';
import { GatewayError, type GatewayApi } from '../gateway/gateway-api.js';
import type { Wanted } from '../options/wanted.js';

/** The gateway deletes what is published when it has heard nothing for so long. */
const LEASE_SECONDS = 120;
/** Letters and digits that are not mistaken for each other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const NAME_LENGTH = 10;

export interface Published {
  /** What visitors open. */
  address: string;
  /** Where it leads. */
  target: string;
}

/** A temporary client with its tunnels and hosts, for as long as its lease is renewed. */
export class Publication {
  /** For the agent. */
  readonly key: string;
  /** `host:port` of the port for agents. */
  readonly server: string;
  readonly published: Published[] = [];
  /** Ids of the hosts among them. */
  readonly hostIds: number[] = [];
  private readonly api: GatewayApi;
  private readonly clientId: number;

  private constructor(api: GatewayApi, { id, key }: NewTunnelClientView, server: string) {
    this.api = api;
    this.clientId = id;
    this.key = key;
    this.server = server;
  }

  /** Creates all of it, or nothing. @throws GatewayError, UsageError */
  static async create(api: GatewayApi, wanted: readonly Wanted[]): Promise<Publication> {
    const gateway = await api.call<TunnelGatewayView>('GET', '/gateway');
    const needsDomain = wanted.some((one) => one.kind === 'http' && one.name === undefined);
    const domain = needsDomain ? await domainFor(api, gateway) : '';
    const name = `gatehouse-agent on ${hostname().slice(0, 64)}`;
    const client = await api.call<NewTunnelClientView>('POST', '/clients', { name });
    const publication = new Publication(api, client, gateway.agent_address);
    try {
      await publication.renew();
      for (const one of wanted) publication.published.push(await publication.add(one, gateway, domain));
    } catch (error) {
      await publication.remove().catch(() => undefined);
      throw error;
    }
    return publication;
  }

  /** @throws GatewayError; 404: it was deleted */
  async renew(): Promise<void> {
    await this.api.call('POST', `/clients/${this.clientId}/lease`, { seconds: LEASE_SECONDS });
  }

  /** @throws GatewayError */
  async remove(): Promise<void> {
    try {
      await this.api.call('DELETE', `/clients/${this.clientId}`);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status !== 404) throw error;
    }
  }

  private async add(wanted: Wanted, gateway: TunnelGatewayView, domain: string): Promise<Published> {
    if (wanted.kind === 'http') return this.addHost(wanted, gateway, domain);
    const target = wanted.kind === 'tcp' ? wanted.target : wanted.folder;
    const { listen_port: port } = await this.api.call<NewTunnelView>('POST', '/tunnels', {
      client_id: this.clientId,
      name: wanted.kind,
      listen_port: wanted.port,
      ...(wanted.kind === 'tcp'
        ? { mode: 'tcp', target_addr: target, ...(wanted.count > 1 && { port_count: wanted.count }) }
        : { mode: 'file', target_addr: `${pathToFileURL(target).href}?ro=1` }),
    });
    const { hostname: host } = new URL(`http://${gateway.agent_address}`);
    const place = formatHostPort(host.replaceAll(/^\[|\]$/g, ''), port);
    if (wanted.kind !== 'tcp') return { address: `http://${place}/`, target };
    return { address: wanted.count > 1 ? `${place}-${port + wanted.count - 1}` : place, target };
  }

  private async addHost(
    { scheme, target, name }: Extract<Wanted, { kind: 'http' }>,
    { automatic_https: secure, https_port: https, http_port: http }: TunnelGatewayView,
    domain: string,
  ): Promise<Published> {
    const { id, host } = await this.api.call<HostView>('POST', '/hosts', {
      client_id: this.clientId,
      host: name ?? `${randomName()}.${domain}`,
      target_addr: `${scheme}://${target}`,
      auto_https: secure ? 1 : 0,
    });
    this.hostIds.push(id);
    const port = secure ? (https ?? 443) : (http ?? 80);
    return { address: `${secure ? 'https' : 'http'}://${formatAuthority(host, port, secure)}/`, target };
  }
}

/** The operator's domain for this, or else the user's own. @throws GatewayError, UsageError if there is none */
async function domainFor(api: GatewayApi, { publish_domain: open }: TunnelGatewayView): Promise<string> {
  if (open !== null) return open;
  const { id } = await api.call<TunnelUserView>('GET', '/auth/me');
  const { items } = await api.call<DomainPage>('GET', `/domains?status=verified&user_id=${id}&limit=1`);
  const [own] = items;
  if (own) return own.name;
  throw new UsageError([new Complaint((words) => words.text('usage.noDomain'))]);
}

function randomName(): string {
  return Array.from({ length: NAME_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
