import { isIP, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { asHostName } from '@gatehouse/net';
import {
  Channel,
  loadSettings,
  Port,
  SettingsError,
  Variable,
  type Environment,
  type SettingProblem,
} from '@gatehouse/platform';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, IsUrl, Matches, Max, Min, ValidateBy } from 'class-validator';
import { ACCESS_LOG_FORMATS, type AccessLogFormat } from './common/access-log-formats.js';
import { isKnownPassword } from './users/known-passwords.js';
import { AcmeSettings } from './acme/acme-settings.js';

/** The most that a user may have of something. Administrators have no limit. */
function PerUser(variable: string): PropertyDecorator {
  return (prototype, property) => {
    const most = Variable(variable, {
      kind: 'integer',
      expected: bilingual('a number from 0 to 1000000', '0 到 1000000 的数字'),
    });
    for (const decorate of [most, IsInt(), Min(0), Max(1_000_000)]) decorate(prototype, property);
  };
}

export interface PortRange {
  first: number;
  last: number;
}

/** Everything the service reads from its environment, once, at boot. */
export class TunnelGatewaySettings extends AcmeSettings {
  @Port('TUNNEL_GATEWAY_PORT')
  port = 8082;

  @IsOptional()
  @Port('TUNNEL_GATEWAY_METRICS_PORT')
  override readonly metricsPort?: number;

  /** Where browsers reach the console. With https, cookies are Secure and carry the `__Host-` prefix. */
  @Variable('TUNNEL_GATEWAY_PUBLIC_URL', {
    expected: bilingual('an address such as https://tunnels.example.org', '网址，例如 https://tunnels.example.org'),
  })
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  publicUrl = 'http://127.0.0.1:8082';

  /** Address of the ports for agents and for visitors of hosts. Tunnels have their own addresses. */
  @Variable('TUNNEL_LISTEN_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 0.0.0.0',
    ),
  })
  @IsAddress()
  listenAddress = '0.0.0.0';

  /** The port to which agents connect. */
  @Port('TUNNEL_AGENT_PORT')
  agentPort = 8024;

  /** The port to which visitors of hosts connect. */
  @Port('TUNNEL_HTTP_PORT')
  httpPort = 8880;

  @Port('TUNNEL_HTTPS_PORT')
  httpsPort = 8443;

  /** The port that redirects to https name, if visitors use another one than TUNNEL_HTTPS_PORT. */
  @Variable('TUNNEL_PUBLIC_HTTPS_PORT', {
    kind: 'integer',
    expected: bilingual('a port from 1 to 65535', '1 到 65535 的端口'),
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(65_535)
  publicHttpsPort?: number;

  /** The address to which agents connect. Default: the host of TUNNEL_GATEWAY_PUBLIC_URL with TUNNEL_AGENT_PORT. */
  @Variable('TUNNEL_PUBLIC_ADDRESS', {
    expected: bilingual('host:port such as gw.example.org:8024', '主机:端口，例如 gw.example.org:8024'),
  })
  @IsOptional()
  @Matches(/^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+):\d{1,5}$/i)
  publicAddress?: string;

  /** How the first administrator is created if GATEHOUSE_ADMIN_PASSWORD is not set. */
  @Variable('TUNNEL_FIRST_ADMINISTRATOR', {
    expected: bilingual(
      'password (one is generated) or setup (a token is)',
      'password（生成密码）或 setup（生成令牌）',
    ),
  })
  @IsIn(['password', 'setup'])
  firstAdministrator: 'password' | 'setup' = 'password';

  /** Ports for tunnels that request any port. Users other than administrators may only request ports in this range. */
  @Variable('PORT_RANGE', { expected: bilingual('two ports such as 20000-29999', '端口范围，例如 20000-29999') })
  @ValidateBy({ name: 'isPortRange', validator: { validate: (text) => readPortRange(text) !== null } })
  portRangeText = '20000-29999';

  /** Clients of one user. 0: only administrators create clients. */
  @PerUser('TUNNEL_MAX_CLIENTS_PER_USER')
  maxClientsPerUser = 100;

  @PerUser('TUNNEL_MAX_TUNNELS_PER_USER')
  maxTunnelsPerUser = 1_000;

  @PerUser('TUNNEL_MAX_HOSTS_PER_USER')
  maxHostsPerUser = 1_000;

  /** Which names users may use for hosts: those that belong to them, or any that are free. */
  @Variable('TUNNEL_HOST_NAMES', {
    expected: bilingual(
      'owned (names belong to users) or any (the first user who takes a name gets it)',
      'owned（域名属于用户）或 any（先到先得）',
    ),
  })
  @IsIn(['owned', 'any'])
  hostNames: 'owned' | 'any' = 'owned';

  /** Users may have hosts of free names directly below it, such as those that their agents publish. */
  @Variable('TUNNEL_PUBLISH_DOMAIN', {
    expected: bilingual('a domain such as tunnels.example.org', '域名，例如 tunnels.example.org'),
  })
  @IsOptional()
  @ValidateBy({ name: 'isDomain', validator: { validate: (text) => typeof text === 'string' && isDomain(text) } })
  publishDomain?: string;

  /** The DNS servers that are asked for the TXT records that prove names. Default: the resolvers of the system. */
  @Variable('TUNNEL_DNS_SERVERS', {
    kind: 'list',
    expected: bilingual(
      'addresses such as 192.0.2.53 or [2001:db8::53]:5353',
      '地址，例如 192.0.2.53 或 [2001:db8::53]:5353',
    ),
  })
  @ValidateBy(
    { name: 'isNameServer', validator: { validate: (text) => typeof text === 'string' && isNameServer(text) } },
    { each: true },
  )
  dnsServers: readonly string[] = [];

  /** Address rules of one user. The same limit applies to policies, in addition to one for each tunnel. */
  @PerUser('TUNNEL_MAX_RULES_PER_USER')
  maxRulesPerUser = 5_000;

  /** Folder of the certificate files that hosts may name. Default: `tunnel-gateway/certificates` in the home. */
  @Variable('CERT_DIR', { expected: bilingual('a folder', '目录') })
  @IsOptional()
  @IsString()
  certFolder?: string;

  /** The country database for address rules, an mmdb file. Default: the bundled one. */
  @Variable('GEOIP_FILE', {
    expected: bilingual('a file with countries of addresses (mmdb)', 'IP 归属国家的文件（mmdb）'),
  })
  @IsOptional()
  @IsString()
  geoFile?: string;

  /** The database of autonomous systems for address rules, an mmdb file. Default: none. */
  @Variable('GEOIP_ASN_FILE', {
    expected: bilingual('a file with autonomous systems of addresses (mmdb)', 'IP 所属自治系统的文件（mmdb）'),
  })
  @IsOptional()
  @IsString()
  asnFile?: string;

  /** Whether rules that deny a country or an autonomous system deny everyone while its database is not there. */
  @Variable('GEOIP_STRICT', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  geoStrict = false;

  /** A file that gets a line for each request to a host. Default: none. */
  @Variable('TUNNEL_ACCESS_LOG', { expected: bilingual('a file for the access log', '访问日志文件') })
  @IsOptional()
  @IsString()
  accessLog?: string;

  @Variable('TUNNEL_ACCESS_LOG_FORMAT', {
    expected: bilingual('combined, common or vhost_combined', 'combined、common 或 vhost_combined'),
  })
  @IsIn(ACCESS_LOG_FORMATS)
  accessLogFormat: AccessLogFormat = 'combined';

  @Variable('NODE_ENV', {
    expected: bilingual('production, or something else while it is tried out', 'production；试用时可为其他值'),
  })
  @IsString()
  nodeEnvironment = 'development';

  get acmeDirectoryUrl(): string {
    const server = this.nodeEnvironment === 'production' ? 'acme-v02' : 'acme-staging-v02';
    return this.acmeDirectory ?? `https://${server}.api.letsencrypt.org/directory`;
  }

  /** Processes that serve agents and visitors. If there are several, another process, the door, opens their ports. */
  @Variable('TUNNEL_EDGE_WORKERS', {
    kind: 'integer',
    expected: bilingual('a number of processes from 1 to 64', '1 到 64 个进程'),
  })
  @IsInt()
  @Min(1)
  @Max(64)
  edgeWorkers = 1;

  /** Whether the service starts its data plane itself, or connects to one that runs separately (`edge.js`). */
  @Variable('TUNNEL_EDGE', {
    expected: bilingual(
      'own (started by the service) or separate (edge.js)',
      'own（由服务启动）或 separate（edge.js）',
    ),
  })
  @IsIn(['own', 'separate'])
  edge: 'own' | 'separate' = 'own';

  /** The control channel of a separate edge: the edge listens there, and the service connects to it. */
  @Channel('TUNNEL_EDGE_CHANNEL', 'tunnel-edge:8025')
  edgeChannel?: string;

  /** Of a separate edge: `/healthz` and `/readyz`. */
  @Port('TUNNEL_EDGE_HEALTH_PORT')
  edgeHealthPort = 8026;

  /** The address on which that port listens: for a load balancer on another machine, not the loopback. */
  @Variable('TUNNEL_EDGE_HEALTH_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or 0.0.0.0',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.1 或 0.0.0.0',
    ),
  })
  @IsAddress()
  edgeHealthAddress = '127.0.0.1';

  /** The edge's name in lists. Default: the name of the machine. */
  @Variable('TUNNEL_EDGE_NAME', {
    expected: bilingual('a name of at most 64 characters such as edge-1', '最多 64 个字符的名称，例如 edge-1'),
  })
  @IsOptional()
  @Matches(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u)
  edgeName?: string;

  /** Host under which agents and visitors reach this edge in particular, where there are several. */
  @Variable('TUNNEL_EDGE_PUBLIC_HOST', {
    expected: bilingual('a host name or address such as edge-1.example.org', '主机名或地址，例如 edge-1.example.org'),
  })
  @IsOptional()
  @ValidateBy({ name: 'isHost', validator: { validate: isHost } })
  edgePublicHost?: string;

  /** Replaces `listen_ip` of all tunnels at this edge, where several edges share a machine. */
  @Variable('TUNNEL_EDGE_TUNNEL_ADDRESS', {
    expected: bilingual(
      'an IPv4 or IPv6 address of this machine, such as 127.0.0.2',
      '本机的 IPv4 或 IPv6 地址，例如 127.0.0.2',
    ),
  })
  @IsOptional()
  @IsAddress()
  edgeTunnelAddress?: string;

  /** A separate port for `/metrics` of a separate edge. Its health port then does not serve them. */
  @IsOptional()
  @Port('TUNNEL_EDGE_METRICS_PORT')
  edgeMetricsPort?: number;

  /** Port where other edges connect. Worker n adds n. Default: this edge has no connections to others. */
  @IsOptional()
  @Port('TUNNEL_EDGE_PEER_PORT')
  edgePeerPort?: number;

  /** Host under which other edges reach this one. */
  @Variable('TUNNEL_EDGE_PEER_HOST', {
    expected: bilingual('a host name or address such as 10.0.0.5', '主机名或地址，例如 10.0.0.5'),
  })
  @IsOptional()
  @ValidateBy({ name: 'isHost', validator: { validate: isHost } })
  edgePeerHost?: string;

  get secureCookies(): boolean {
    return this.publicUrl.startsWith('https:');
  }

  get portRange(): PortRange {
    return readPortRange(this.portRangeText) ?? { first: 0, last: 0 };
  }

  get certificateFolder(): string {
    return this.certFolder ?? join(this.home, 'tunnel-gateway', 'certificates');
  }
}

function IsAddress(): PropertyDecorator {
  const validate = (text: unknown): boolean => typeof text === 'string' && isIP(text) !== 0;
  return ValidateBy({ name: 'isAddress', validator: { validate } });
}

function isHost(text: unknown): boolean {
  return typeof text === 'string' && (isIP(text) !== 0 || asHostName(text) !== null);
}

function isDomain(text: string): boolean {
  return isIP(text) === 0 && text === asHostName(text) && text.includes('.');
}

function isNameServer(text: string): boolean {
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (isIPv6(text)) return true;
  return (v6 === undefined ? isIP(v4 ?? '') === 4 : isIPv6(v6)) && Number(port ?? 53) <= 65_535;
}

function readPortRange(text: unknown): PortRange | null {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(typeof text === 'string' ? text.trim() : '') ?? [];
  const [first, last] = [Number(from), Number(to)];
  return first >= 1 && last <= 65_535 && first <= last ? { first, last } : null;
}

/** @throws SettingsError naming every bad, missing and unknown variable. */
export function readSettings(env: Environment = process.env): Readonly<TunnelGatewaySettings> {
  const settings = loadSettings(TunnelGatewaySettings, env);
  refuseUseless(settings);
  return settings;
}

/**
 * An example from a document, or something that was typed to fill the field, protects nothing; and a challenge without a
 * provider proves nothing.
 */
function refuseUseless({ adminPassword, secretKey, ...acme }: TunnelGatewaySettings): void {
  const problems: SettingProblem[] = [];
  if (adminPassword !== undefined && isKnownPassword(adminPassword)) {
    const expected = bilingual('one of your own, or none for one that is made', '您自己的密码，或不设置以自动生成');
    problems.push({
      variable: 'GATEHOUSE_ADMIN_PASSWORD',
      problem: bilingual('is a very common password', '是非常常见的密码'),
      expected,
    });
  }
  if (secretKey !== undefined && new Set(Buffer.from(secretKey, 'base64')).size < 16) {
    const expected = bilingual('32 random bytes (openssl rand -base64 32)', '32 个随机字节（openssl rand -base64 32）');
    problems.push({ variable: 'GATEHOUSE_SECRET_KEY', problem: bilingual('is not random', '不是随机的'), expected });
  }
  if (acme.acmeChallenges.includes('dns-01') && acme.acmeDnsProvider === undefined) {
    const expected = bilingual('ACME_DNS_PROVIDER, too', '同时设置 ACME_DNS_PROVIDER');
    problems.push({
      variable: 'ACME_CHALLENGES',
      problem: bilingual('has dns-01, and no provider is set', '包含 dns-01，但未设置服务商'),
      expected,
    });
  }
  if (problems.length > 0) throw new SettingsError(problems);
}
