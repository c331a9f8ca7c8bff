import type { ListeningSockets } from '@gatehouse/net';
import {
  TunnelServer,
  type ClientStore,
  type PeerOptions,
  type TunnelLogger,
  type TunnelServerEnvironment,
} from '@gatehouse/tunnel-kernel';
import { activeTracing } from '@gatehouse/tracing';
import { newestOf, splitKeys } from '../common/key-box.js';
import { SESSION_COOKIE } from '../common/session-cookie-name.js';
import type { AccessLog } from './access-log.js';
import type { AcmeAnswers } from './acme-answers.js';
import type { AddressLists } from '../common/address-lists.js';
import type { AddressFiles } from '../common/address-files.js';
import { servedElsewhere, type WorkerShare } from './door/worker-share.js';
import type { EdgeGrants } from './edge-grants.js';
import type { EdgeOptions, EdgePorts } from '../common/edge-ipc.js';
import { EdgePortError } from './edge-port-error.js';
import type { PasswordProcess } from './password-process.js';
import { visitSpans } from './visit-spans.js';

/** The first visitors wait for agents that reconnect, or move here from the previous edge. */
const ARRIVAL_MS = 3_000;

/** What the tunnel server of an edge needs while it serves. */
export interface EdgeServerParts {
  logger: TunnelLogger;
  clients: ClientStore;
  /** Null: it serves all clients. */
  share: WorkerShare | null;
  files: AddressFiles;
  lists: AddressLists;
  grants: EdgeGrants;
  acme: AcmeAnswers;
  passwords: PasswordProcess;
  sockets: ListeningSockets;
  /** Undefined: other edges are not reached. */
  peers: PeerOptions | undefined;
  events: NonNullable<TunnelServerEnvironment['events']>;
  /** Null: requests are not logged. */
  accessLog: AccessLog | null;
}

/** Login cookies of this console and of the platform's site, and the site's cookie for forms before a login. */
const PLATFORM_COOKIES = [SESSION_COOKIE, 'gatehouse_site', 'gatehouse_visit'];

export function createEdgeServer(options: EdgeOptions, parts: EdgeServerParts): TunnelServer {
  const { logger, clients, share, files, lists, grants, acme, passwords, sockets, peers, events, accessLog } = parts;
  const { publicHttpsPort, worker } = options;
  const tracing = activeTracing();
  const visitorSecrets = splitKeys(options.visitorSecret);
  return new TunnelServer({
    now: Date.now,
    logger,
    identity: options.identity,
    ...(options.nextFingerprint !== undefined && { nextFingerprint: options.nextFingerprint }),
    ...(options.formerIdentity && { formerIdentity: options.formerIdentity }),
    clients: share?.guard(clients) ?? clients,
    ...(worker && { worker: worker.index }),
    ...(share && { serves: (tag) => share.servesTag(tag) }),
    trustedProxies: options.trustedProxies,
    countryOf: files.countries.lookup,
    asnOf: files.systems.lookup,
    inList: lists.lookup,
    geoStrict: options.geoStrict,
    verification: {
      secret: newestOf(visitorSecrets),
      formerSecrets: visitorSecrets.slice(1),
      verifyPassword: passwords.verify,
      grants: grants.store,
    },
    sockets,
    ...(peers && { peers }),
    timeouts: { arrival: ARRIVAL_MS },
    http: {
      ...(publicHttpsPort !== null && { publicHttpsPort }),
      withheldCookies: PLATFORM_COOKIES,
      acmeChallenge: acme.http,
      acmeTlsAlpn: acme.tls,
      ...(tracing && { trace: visitSpans(tracing) }),
      ...(accessLog && { log: accessLog.add }),
      ...(share && { serves: (name) => share.serves(name) }),
    },
    events,
  });
}

type PortAddresses = Pick<EdgeOptions, 'agents' | 'http' | 'https'>;

/** Binds the gateway's own ports that are 0 in `bound`. @throws EdgePortError */
export async function listenAtPorts(
  server: TunnelServer,
  addresses: PortAddresses,
  bound: EdgePorts,
): Promise<EdgePorts> {
  const agents = await EdgePortError.guard('agents', server.listen(addresses.agents));
  return bound.http > 0 ? { ...bound, agents } : { ...(await listenForVisitors(server, addresses)), agents };
}

/** Binds the ports for visitors of hosts. @throws EdgePortError */
export async function listenForVisitors(server: TunnelServer, { http, https }: PortAddresses): Promise<EdgePorts> {
  return {
    agents: 0,
    http: await EdgePortError.guard('http', server.listenHttp(http)),
    https: await EdgePortError.guard('https', server.listenHttps(https)),
  };
}

/**
 * Serves behind a door that owns the ports. UDP sockets cannot be passed on: each worker has a UDP port of its own, and
 * the first one uses the port for agents.
 */
export function serveBehind(
  server: TunnelServer,
  { agents, https }: EdgePorts,
  { agents: { host }, worker }: Pick<EdgeOptions, 'agents' | 'worker'>,
): Promise<void> {
  return server.serve({ host, port: agents + (worker?.index ?? 0) }, https);
}

/** Disconnects agents that found no other edge: they try again until there is one. */
export function sendAway(server: TunnelServer): void {
  for (const { clientId } of server.agents()) server.disconnect(clientId, servedElsewhere());
}
