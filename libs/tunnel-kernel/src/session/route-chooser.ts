import type { AgentDialer, HostAndPort } from '../environment.js';
import type { TunnelError, TunnelErrorCode } from '../errors.js';
import { AGENT_PATH, type WebSocketAddress } from '../websocket/handshake.js';
import { taggedPath } from '../wire/route-tag.js';
import { RawRoute, WebSocketRoute, type ServerRoute } from './server-route.js';

/** `auto`: TCP connections to the server's port for agents where that works, else a WebSocket. */
export type AgentTransport = 'auto' | 'raw' | 'websocket';

export interface RouteOptions {
  dialer: Pick<AgentDialer, 'server'>;
  server: HostAndPort;
  transport: AgentTransport;
  /** Absent: port 443 of the server's host, over TLS. */
  websocket: WebSocketAddress | undefined;
  /** Sent unencrypted to a server of several processes; see `route-tag.ts`. */
  routeTag?: string;
  /**
   * Consecutive failures after which a route that worked before is given up. Absent: 3, so that a restart of the server
   * does not count.
   */
  patience?: number;
  /** For WebSockets: see `MuxOptions`. */
  keepAliveMs?: number;
  /** Milliseconds since the epoch. */
  now: () => number;
}

const PATIENCE = 3;
/** Interval at which the better route is tried again. */
const RAW_AGAIN_MS = 600_000;

const OF_THE_WAY: ReadonlySet<TunnelErrorCode> = new Set([
  'connection',
  'timeout',
  'protocol',
  'silent',
  'misdirected',
  'server_key',
]);

/** Whether the error may depend on the route: a network that answers in the server's place also shows another key. */
export function isOfTheWay({ code }: TunnelError): boolean {
  return OF_THE_WAY.has(code);
}

/** The default WebSocket address of a server, derived from its port for agents. */
export function webSocketOf({ host }: HostAndPort): WebSocketAddress {
  return { secure: true, host, port: 443, path: AGENT_PATH };
}

/** Chooses the route to the server for each attempt from the results of earlier ones. */
export class RouteChooser {
  private readonly options: RouteOptions;
  private preferred: ServerRoute['kind'];
  /** Consecutive failures since the last welcome. */
  private readonly failures = { raw: 0, websocket: 0 };
  private worked: ServerRoute['kind'] | null = null;
  private rawFailedAt = 0;

  constructor(options: RouteOptions) {
    this.options = options;
    this.preferred = options.transport === 'websocket' ? 'websocket' : 'raw';
  }

  next(): ServerRoute {
    if (this.isRawDue) this.preferred = 'raw';
    return this.route(this.preferred);
  }

  /** As `next`, without trying the better route again. */
  same(): ServerRoute {
    return this.route(this.preferred);
  }

  /** Whether the better route has not been tried for long. */
  get isRawDue(): boolean {
    const { transport, now } = this.options;
    return transport === 'auto' && this.preferred === 'websocket' && now() - this.rawFailedAt >= RAW_AGAIN_MS;
  }

  route(kind: ServerRoute['kind']): ServerRoute {
    const { dialer, server, websocket, routeTag, keepAliveMs } = this.options;
    if (kind === 'raw') return new RawRoute(dialer, server);
    const address = websocket ?? webSocketOf(server);
    const tagged = { ...address, path: taggedPath(address.path, routeTag), ...(routeTag && { routeTag }) };
    return new WebSocketRoute(dialer, tagged, keepAliveMs === undefined ? {} : { keepAliveMs });
  }

  welcomed(kind: ServerRoute['kind']): void {
    this.worked = kind;
    this.preferred = kind;
    this.failures.raw = 0;
    this.failures.websocket = 0;
  }

  /** An attempt ended before the welcome. Returns whether another route should be tried at once. */
  failed(kind: ServerRoute['kind']): boolean {
    this.failures[kind] += 1;
    if (kind === 'raw') this.rawFailedAt = this.options.now();
    if (this.options.transport !== 'auto') return false;
    if (this.failures[kind] < (this.worked === kind ? (this.options.patience ?? PATIENCE) : 1)) return false;
    const other = kind === 'raw' ? 'websocket' : 'raw';
    this.preferred = other;
    // The routes take turns, with a pause after both.
    return this.failures[other] < this.failures[kind];
  }
}
