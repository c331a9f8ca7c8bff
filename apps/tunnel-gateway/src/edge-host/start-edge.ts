import { createHash, hkdfSync } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { parseControlEndpoint, type ControlEndpoint } from '@gatehouse/net';
import { createSecretBox, loadSecretKeys } from '@gatehouse/persistence';
import { StartError, tracingOptions, type JsonLogger } from '@gatehouse/platform';
import { certificateSecret, joinKeys, newestOf } from '../common/key-box.js';
import { SERVICE_VERSION } from '../service-version.js';
import type { TunnelGatewaySettings } from '../settings.js';
import type { Queries } from '../common/edge-database.js';
import type { EdgeLogEntry, EdgeOptions, EdgePeering, EdgePorts } from '../common/edge-ipc.js';
import { edgeIdOf } from '../common/edge-id.js';
import type { EdgeLauncher } from './edge-launcher.js';
import type { FirstStart } from '../edge-supervisor/edge-supervisor.js';
import { ownChannelAddress } from '../common/channel-address.js';
import { ownChannelKey, peerKey, separateChannelKey, textOfChannelKey } from '../common/channel-key.js';
import { EdgeLink, type EdgeLinkOptions } from './edge-link.js';
import type { SupervisorStart } from '../common/supervisor-calls.js';
import { loadServerIdentity, type KnownIdentity } from './server-identity.js';

export interface EdgeStart {
  settings: Readonly<TunnelGatewaySettings>;
  launcher: EdgeLauncher;
  logger: JsonLogger;
  queries: Queries;
}

/** How long the start of the service waits for its data plane. */
const FIRST_START_MS = 10_000;

/** The running data plane and the connection to it. A class, because it is also the injection token. */
export class RunningEdge {
  readonly link: EdgeLink;
  readonly identity: KnownIdentity;

  constructor(link: EdgeLink, identity: KnownIdentity) {
    this.link = link;
    this.identity = identity;
  }

  /** The bound ports; 0: not yet. */
  get ports(): EdgePorts {
    return this.link.ports;
  }
}

/** The edge's files for a start without the database. */
export function edgeFolder(home: string): string {
  return join(home, 'tunnel-gateway');
}

/** Finds the edge, or starts one. @throws StartError when a port of the gateway is taken. */
export async function startEdge({ settings, launcher, logger, queries }: EdgeStart): Promise<RunningEdge> {
  const keys = loadSecretKeys({ home: settings.home, envValue: settings.secretKey });
  const file = join(edgeFolder(settings.home), 'identity.json');
  const identity = await loadServerIdentity({ queries, box: createSecretBox(keys), file });
  const link = new EdgeLink({
    ...(settings.edge === 'own' ? ownEdge(settings, identity, keys, launcher) : separateEdge(settings, keys)),
    onLogs: (entries) => logAll(logger, entries),
    onExit: (reason) => logger.warn(`the edge ended (${reason})`, 'Edge'),
    onProblem: (problem) => logger.error(`the edge cannot be administrated: ${problem}`, 'Edge'),
  });
  const first = await link.start(FIRST_START_MS);
  if (first.outcome === 'port') throw portError(first, settings);
  if (first.outcome === 'waiting') logger.warn('the edge is not ready yet', 'Edge');
  else if (link.tookOver) logger.log('the edge served on and is taken over', { pid: link.pid, ...first.ports }, 'Edge');
  else logger.log('the edge serves', { pid: link.pid, ...first.ports }, 'Edge');
  return new RunningEdge(link, identity);
}

type Way = Pick<EdgeLinkOptions, 'endpoint' | 'key' | 'own'>;

function ownEdge(
  settings: Readonly<TunnelGatewaySettings>,
  identity: KnownIdentity,
  secretKeys: readonly Buffer[],
  launcher: EdgeLauncher,
): Way {
  const folder = edgeFolder(settings.home);
  const endpoint = ownChannelAddress(folder);
  const key = ownChannelKey(folder);
  const edge = edgeOptions(settings, identity, secretKeys);
  const start: SupervisorStart = {
    edge,
    optionsId: optionsIdOf(edge),
    channelKeys: [textOfChannelKey(key)],
    channel: endpoint,
    watch: process.ppid > 1 ? process.ppid : null,
  };
  return { endpoint, key, own: { start, launch: (what) => launcher.launch(what, folder) } };
}

function separateEdge(settings: Readonly<TunnelGatewaySettings>, secretKeys: readonly Buffer[]): Way {
  return { endpoint: channelEndpointOf(settings), key: separateChannelKey(newestOf(secretKeys)), own: null };
}

/** Address of a separate edge's channel. */
export function channelEndpointOf({ edgeChannel, home }: Readonly<TunnelGatewaySettings>): ControlEndpoint {
  const said = edgeChannel === undefined ? null : parseControlEndpoint(edgeChannel);
  return said ?? ownChannelAddress(edgeFolder(home));
}

/** Includes the version of the edge's program, because another version needs another process. */
function optionsIdOf(edge: SupervisorStart['edge']): string {
  const { mtimeMs } = statSync(new URL(`../edge/edge-main${extname(import.meta.url)}`, import.meta.url));
  return createHash('sha256')
    .update(JSON.stringify([SERVICE_VERSION, mtimeMs, edge]))
    .digest('hex');
}

/** All options of an edge. */
export function edgeOptions(
  settings: Readonly<TunnelGatewaySettings>,
  { key, certificate, nextFingerprint, former }: KnownIdentity,
  secretKeys: readonly Buffer[],
): Omit<EdgeOptions, 'takesOver'> {
  const tracing = tracingOptions(settings, 'tunnel-gateway edge');
  const at = (port: number): EdgeOptions['agents'] => ({ host: settings.listenAddress, port });
  return {
    databaseUrl: settings.databaseUrl,
    place: {
      edge: edgeIdOf(edgeFolder(settings.home)),
      name: settings.edgeName ?? hostname(),
      version: SERVICE_VERSION,
      publicHost: settings.edgePublicHost ?? null,
      peers: peeringOf(settings, secretKeys),
    },
    folder: edgeFolder(settings.home),
    identity: { key, certificate },
    ...(nextFingerprint !== undefined && { nextFingerprint }),
    ...(former && { formerIdentity: former }),
    visitorSecret: visitorSecretOf(secretKeys),
    agents: at(settings.agentPort),
    http: at(settings.httpPort),
    https: at(settings.httpsPort),
    ...(settings.edgeTunnelAddress !== undefined && { tunnelAddress: settings.edgeTunnelAddress }),
    publicHttpsPort: settings.publicHttpsPort ?? null,
    certificateFolder: settings.certificateFolder,
    certificateKey: joinKeys(secretKeys.map(certificateSecret)),
    trustedProxies: settings.trustedProxies,
    geoFile: settings.geoFile ?? null,
    asnFile: settings.asnFile ?? null,
    geoStrict: settings.geoStrict,
    debug: settings.logLevel === 'debug',
    ...(settings.accessLog !== undefined && {
      accessLog: { file: resolve(settings.accessLog), format: settings.accessLogFormat },
    }),
    ...(tracing && { tracing }),
    workers: settings.edgeWorkers,
    worker: null,
  };
}

/** Without TUNNEL_EDGE_PEER_PORT, an edge opens no port for others. */
function peeringOf(
  { edgePeerPort: port, edgePeerHost, edgePublicHost, listenAddress: host }: Readonly<TunnelGatewaySettings>,
  secretKeys: readonly Buffer[],
): EdgePeering | null {
  if (port === undefined) return null;
  const own = host === '0.0.0.0' || host === '::' ? (edgePublicHost ?? hostname()) : host;
  return {
    listen: { host, port },
    host: edgePeerHost ?? own,
    keys: secretKeys.map((key) => textOfChannelKey(peerKey(key))),
  };
}

/** A derived key: it reveals nothing about the key that seals the database. */
export function visitorSecretOf(keys: readonly Buffer[]): string {
  return joinKeys(keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'tunnel-gateway visitors', 32))));
}

/** Signs forms and sign-ins of visitors' pages: the same in all replicas, and different from the edges' key. */
export function visitSecretOf(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'tunnel-gateway visits', 32));
}

/** Writes entries into the service's own log. */
export function logAll(logger: JsonLogger, entries: readonly EdgeLogEntry[]): void {
  for (const { level, message, fields = {} } of entries) {
    logger[level === 'info' ? 'log' : level](message, fields, 'Edge');
  }
}

const PORT_VARIABLES = { agents: 'TUNNEL_AGENT_PORT', http: 'TUNNEL_HTTP_PORT', https: 'TUNNEL_HTTPS_PORT' } as const;

/** A port that cannot be opened, as an error that says what to change. */
export function portError(
  { port: name, code }: Extract<FirstStart, { outcome: 'port' }>,
  settings: Readonly<TunnelGatewaySettings>,
): StartError {
  const variable = PORT_VARIABLES[name];
  const port = { agents: settings.agentPort, http: settings.httpPort, https: settings.httpsPort }[name];
  if (code === 'EADDRINUSE') {
    const at = settings.listenAddress;
    return new StartError(
      `${variable}: port ${port} on ${at} is in use by another program; set ${variable} to a free port`,
      `${variable}: ${at} 的端口 ${port} 已被其他程序占用；请将 ${variable} 设为空闲端口`,
    );
  }
  if (code === 'EACCES') {
    return new StartError(
      `${variable}: this user may not listen on port ${port}; set ${variable} to a port above 1023`,
      `${variable}: 当前用户无权监听端口 ${port}；请将 ${variable} 设为大于 1023 的端口`,
    );
  }
  return new StartError(
    `TUNNEL_LISTEN_ADDRESS: ${settings.listenAddress} cannot be listened on (${code})`,
    `TUNNEL_LISTEN_ADDRESS: 无法监听 ${settings.listenAddress}（${code}）`,
  );
}
