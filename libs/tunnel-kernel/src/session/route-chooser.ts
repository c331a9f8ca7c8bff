import type { AgentDialer, HostAndPort } from '../environment.js';
import { AGENT_PATH, type WebSocketAddress } from '../websocket/handshake.js';
import { taggedPath } from '../wire/route-tag.js';
import { RawRoute, WebSocketRoute, type ServerRoute } from './server-route.js';

/** `auto`: TCP connections to the server's port for agents where that works, else a WebSocket. */
export type AgentTransport = 'auto' | 'raw' | 'websocket';

export interface RouteOptions {
  dialer: Pick<AgentDialer, 'server'>;
  server: HostAndPort;
  transport: AgentTransport;
  /** Absent: port 443 of the server's host, in TLS. */
  websocket: WebSocketAddress | undefined;
  /** Said openly to a server of several processes; see `route-tag.ts`. */
  routeTag?: string;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** A way that worked before is not given up for a server that is only being restarted. */
const PATIENCE = 3;
/** The better way is tried again after this long without it. */
const RAW_AGAIN_MS = 600_000;

/** Chooses the way to the server for each attempt, from what became of those before. */
export class RouteChooser {
  private readonly options: RouteOptions;
  private preferred: ServerRoute['kind'];
  /** Failures in a row, since the last that was welcome. */
  private readonly failures = { raw: 0, websocket: 0 };
  private worked: ServerRoute['kind'] | null = null;
  private rawFailedAt = 0;

  constructor(options: RouteOptions) {
    this.options = options;
    this.preferred = options.transport === 'websocket' ? 'websocket' : 'raw';
  }

  next(): ServerRoute {
    const { transport, dialer, server, websocket, routeTag, now } = this.options;
    const isOld = now() - this.rawFailedAt >= RAW_AGAIN_MS;
    if (transport === 'auto' && this.preferred === 'websocket' && isOld) this.preferred = 'raw';
    if (this.preferred === 'raw') return new RawRoute(dialer, server);
    const address = websocket ?? { secure: true, host: server.host, port: 443, path: AGENT_PATH };
    return new WebSocketRoute(dialer, {
      ...address,
      path: taggedPath(address.path, routeTag),
      ...(routeTag && { routeTag }),
    });
  }

  welcomed(kind: ServerRoute['kind']): void {
    this.worked = kind;
    this.preferred = kind;
    this.failures.raw = 0;
    this.failures.websocket = 0;
  }

  /** An attempt did not get as far as a welcome. Answers whether another way is to be tried at once. */
  failed(kind: ServerRoute['kind']): boolean {
    this.failures[kind] += 1;
    if (kind === 'raw') this.rawFailedAt = this.options.now();
    if (this.options.transport !== 'auto') return false;
    if (this.failures[kind] < (this.worked === kind ? PATIENCE : 1)) return false;
    const other = kind === 'raw' ? 'websocket' : 'raw';
    this.preferred = other;
    // Each in its turn, with a pause after both.
    return this.failures[other] < this.failures[kind];
  }
}
