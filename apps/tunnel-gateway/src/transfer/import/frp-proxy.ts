import { formatHostPort } from '@gatehouse/net';
import { own, type Fields, type Ports } from './fields.js';
import { PROXY_REASONS, TRANSPORT_REASONS } from './frp-reasons.js';
import type { PlannedResource } from './import-plan.js';

/** What a proxy needs from its file. */
export interface ProxyContext {
  client: string;
  prefix: string;
  /** Null: all. */
  starts: ReadonlySet<string> | null;
  subDomainHost: string | undefined;
}

/** Limit for one entry: every name is combined with every location. */
const MAX_HOSTS = 1_000;

type Part = Pick<PlannedResource, 'body' | 'accounts'> & { suffix?: string };

/** One entry of [[proxies]]: a tunnel, or a host for each of its names and locations. */
export function planProxy(fields: Fields, context: ProxyContext): PlannedResource[] {
  const name = `${context.prefix}${fields.filled('name', 'name') ?? ''}`;
  const type = fields.filled('type', 'mode');
  const parts = type === 'http' || type === 'https' ? planHosts(fields, type, context) : planTunnel(fields, type);
  const kind = type === 'http' || type === 'https' ? 'host' : 'tunnel';
  const status = statusOf(fields, name, context);
  const transport = fields.table('transport');
  const proxyProtocol = readProxyProtocol(transport, kind);
  const rateLimit = kind === 'tunnel' ? readRateLimit(transport) : {};
  transport.rest(TRANSPORT_REASONS);
  fields.rest(PROXY_REASONS);
  return parts.map(({ body, accounts, suffix = '' }) => ({
    ...fields.place,
    kind,
    name: `${name}${suffix}`,
    client: context.client,
    leaves: fields.leaves,
    body: { ...(kind === 'tunnel' && { name }), ...body, status, ...proxyProtocol, ...rateLimit },
    accounts,
  }));
}

function statusOf(fields: Fields, name: string, { starts, prefix }: ProxyContext): 0 | 1 {
  const enabled = fields.flag('enabled', 'status') ?? true;
  return enabled && (starts === null || starts.has(name.slice(prefix.length))) ? 1 : 0;
}

function readProxyProtocol(transport: Fields, kind: PlannedResource['kind']): { proxy_protocol?: 1 | 2 } {
  if (kind === 'host') {
    if (transport.has('proxyProtocolVersion')) {
      transport.without('proxyProtocolVersion', 'targets of hosts get X-Forwarded-For');
    }
    return {};
  }
  const version = transport.filled('proxyProtocolVersion', 'proxy_protocol');
  if (version === undefined) return {};
  if (version === 'v1' || version === 'v2') return { proxy_protocol: version === 'v1' ? 1 : 2 };
  transport.refuse('proxyProtocolVersion', 'must be v1 or v2');
  return {};
}

const KIB_OF: Readonly<Record<string, number>> = { KB: 1, MB: 1024 };

/** frp counts in units of 1,024, as the gateway does. */
function readRateLimit(transport: Fields): { rate_limit?: number } {
  const text = transport.filled('bandwidthLimit', 'rate_limit');
  if (text === undefined) return {};
  const [, amount = '', unit = ''] = /^(\d{1,6}(?:\.\d+)?)(KB|MB)$/.exec(text) ?? [];
  if (amount !== '') return { rate_limit: Math.max(1, Math.round(Number(amount) * (KIB_OF[unit] ?? 1))) };
  transport.refuse('bandwidthLimit', 'must be a number with KB or MB');
  return {};
}

const MODES: Readonly<Record<string, string>> = { tcp: 'tcp', udp: 'udp', stcp: 'secret', xtcp: 'p2p' };
const WITHOUT_MODE: Readonly<Record<string, string>> = {
  tcpmux: 'CONNECT to a name is not supported; use a tunnel of mode tcp, which has its own port',
  sudp: 'private tunnels carry no datagrams; a tunnel of mode udp has a public port',
};

function planTunnel(fields: Fields, type: string | undefined): Part[] {
  const reason = own(WITHOUT_MODE, type);
  if (reason !== undefined) {
    fields.leaves.length = 0;
    fields.without('type', reason);
    fields.rest({ '*': reason });
    return [];
  }
  const mode = own(MODES, type);
  if (mode === undefined) {
    fields.refuse('type', 'must be tcp, udp, http, https, tcpmux, stcp, xtcp or sudp');
    return [];
  }
  const withPort = mode === 'tcp' || mode === 'udp';
  const remote = (withPort && fields.ports('remotePort', 'listen_port')) || NO_PORT;
  const port = withPort ? portsBody(remote) : {};
  const plugin = fields.has('plugin') ? planPlugin(fields, mode) : undefined;
  if (plugin === null) return [];
  if (plugin) return [{ ...plugin, body: { ...port, ...plugin.body } }];
  if (!withPort) return [{ body: { mode, target_addr: readTarget(fields) }, accounts: [] }];
  const { address, count } = readTargets(fields);
  // Any free ports, as many as there are targets.
  const ports = remote.first === 0 ? { first: 0, count } : remote;
  return [{ body: { mode, target_addr: address, ...portsBody(ports) }, accounts: [] }];
}

const NO_PORT: Ports = { first: 0, count: 1 };

function portsBody({ first, count }: Ports): { listen_port: number; port_count?: number } {
  return { listen_port: first, ...(count > 1 && { port_count: count }) };
}

/** The address of one port, or of a range of them. */
function readTargets(fields: Fields): { address: string; count: number } {
  const host = fields.filled('localIP', 'target_addr') ?? '127.0.0.1';
  const ports = fields.ports('localPort', 'target_addr');
  if (ports === undefined) fields.refuse('localPort', 'a port is required');
  const { first, count } = ports ?? NO_PORT;
  const address = formatHostPort(host, first);
  return { address: count > 1 ? `${address}-${first + count - 1}` : address, count };
}

/** Null: there is no counterpart, which was reported. */
function planPlugin(fields: Fields, mode: string): Part | null {
  const plugin = fields.table('plugin');
  const type = plugin.filled('type', 'mode');
  for (const name of ['localIP', 'localPort']) if (fields.has(name)) fields.without(name, 'replaced by the plugin');
  const found = mode === 'tcp' ? tunnelOfPlugin(plugin, type) : null;
  if (found === null) plugin.without('type', `a tunnel of mode ${mode} has no such plugin: ${type ?? 'none'}`);
  plugin.rest(found === null ? { '*': 'it belongs to the plugin' } : {});
  return found;
}

function tunnelOfPlugin(plugin: Fields, type: string | undefined): Part | null {
  if (type === 'http_proxy') {
    return { body: { mode: 'http_proxy', target_addr: '' }, accounts: readAccount(plugin, 'httpUser', 'httpPassword') };
  }
  if (type === 'socks5') {
    return { body: { mode: 'socks5', target_addr: '' }, accounts: readAccount(plugin, 'username', 'password') };
  }
  if (type !== 'static_file') return null;
  const path = plugin.filled('localPath', 'target_addr') ?? '';
  const strip = plugin.filled('stripPrefix', 'target_addr');
  return {
    body: { mode: 'file', target_addr: fileTarget(path, strip, true) },
    accounts: readAccount(plugin, 'httpUser', 'httpPassword'),
  };
}

/** The directory as `target_addr` has it. */
export function fileTarget(path: string, strip: string | undefined, readOnly: boolean): string {
  const url = new URL('file:///');
  url.pathname = path.replaceAll('\\', '/');
  url.searchParams.set('ro', readOnly ? '1' : '0');
  const prefix = `/${withoutSlashes(strip ?? '')}`;
  if (prefix !== '/') url.searchParams.set('strip', prefix);
  return url.href.replaceAll('%2F', '/');
}

/** Trims slashes. A regular expression would be quadratic for long runs of slashes. */
function withoutSlashes(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === '/') start++;
  while (end > start && text[end - 1] === '/') end--;
  return text.slice(start, end);
}

function readAccount(fields: Fields, user: string, password: string): PlannedResource['accounts'] {
  const username = fields.filled(user, 'an auth policy');
  const secret = fields.filled(password, 'an auth policy');
  if (username === undefined && secret === undefined) return [];
  if (username !== undefined && secret !== undefined) return [{ username, password: secret }];
  fields.refuse(username === undefined ? user : password, `${user} and ${password} go together`);
  return [];
}

function planHosts(fields: Fields, type: 'http' | 'https', { subDomainHost }: ProxyContext): Part[] {
  const names = fields.texts('customDomains', 'host');
  const sub = fields.filled('subdomain', 'host');
  if (sub !== undefined && subDomainHost !== undefined) names.push(`${sub}.${subDomainHost}`);
  else if (sub !== undefined)
    fields.refuse('subdomain', 'import the frps.toml with subDomainHost together with this file');
  const target = hostTarget(fields, type);
  if (target === null) return [];
  const accounts = type === 'http' ? readAccount(fields, 'httpUser', 'httpPassword') : [];
  const locations = type === 'http' ? fields.texts('locations', 'location') : [];
  const rewrite = fields.filled('hostHeaderRewrite', 'rewrite_host');
  const body = {
    scheme: type,
    target_addr: target,
    ...(type === 'https' && { auto_https: 1 }),
    ...(rewrite !== undefined && { rewrite_host: rewrite }),
    ...headersOf(fields),
  };
  if (type === 'https') fields.note('type', 'TLS ends at the gateway, which needs a certificate: auto_https was set');
  if (names.length === 0) fields.refuse('customDomains', 'a host needs a name');
  if (names.length * locations.length > MAX_HOSTS) {
    fields.refuse('locations', `are more than ${MAX_HOSTS} hosts with these names`);
    return [];
  }
  return names.flatMap((host) =>
    (locations.length === 0 ? ['/'] : locations).map((location) => ({
      body: { ...body, host, location },
      accounts,
      suffix: ` (${host}${location})`,
    })),
  );
}

function headersOf(fields: Fields): Record<string, unknown> {
  const request = fields.table('requestHeaders');
  const response = fields.table('responseHeaders');
  const sent = request.textMap('set', 'request_headers');
  const answered = response.textMap('set', 'response_headers');
  for (const table of [request, response]) table.rest();
  return {
    ...(Object.keys(sent).length > 0 && { request_headers: sent }),
    ...(Object.keys(answered).length > 0 && { response_headers: answered }),
  };
}

/** Schemes that targets of the plugins for hosts have. */
const PLUGIN_SCHEMES: Readonly<Record<string, string>> = {
  http2http: 'http://',
  http2https: 'https://',
  https2http: 'http://',
  https2https: 'https://',
};

/** Null: there is no counterpart, which was reported. */
function hostTarget(fields: Fields, type: 'http' | 'https'): string | null {
  // frp does not verify certificates of targets.
  const insecure = (scheme: string): string => (scheme === 'https://' ? '?insecure=1' : '');
  if (!fields.has('plugin')) {
    const scheme = `${type}://`;
    return `${scheme}${readTarget(fields)}${insecure(scheme)}`;
  }
  const plugin = fields.table('plugin');
  const name = plugin.filled('type', 'the scheme of target_addr');
  const scheme = own(PLUGIN_SCHEMES, name);
  if (scheme === undefined) {
    plugin.without('type', `hosts have no such plugin: ${name ?? 'none'}`);
    plugin.rest({ '*': 'it belongs to the plugin' });
    return null;
  }
  const address = plugin.filled('localAddr', 'target_addr') ?? '';
  plugin.rest({
    hostHeaderRewrite: 'set rewrite_host of the host',
    crtPath: 'upload the certificate to the host',
    keyPath: 'upload the certificate to the host',
    enableHTTP2: 'HTTP/2 is always there',
    requestHeaders: 'set request_headers of the host',
  });
  return `${scheme}${address}${insecure(scheme)}`;
}

function readTarget(fields: Fields): string {
  const host = fields.filled('localIP', 'target_addr') ?? '127.0.0.1';
  const port = fields.integer('localPort', 'target_addr');
  if (port === undefined) fields.refuse('localPort', 'a port is required');
  return formatHostPort(host, port ?? 0);
}
