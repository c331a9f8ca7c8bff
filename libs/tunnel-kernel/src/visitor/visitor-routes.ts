import type { TLSSocket } from 'node:tls';
import { guardPromise, setFlowTimeout } from '@gatehouse/net';
import type { TunnelLogger } from '../environment.js';
import { asTunnelError, TunnelError } from '../errors.js';
import { isOfTheWay, type RouteChooser } from '../session/route-chooser.js';
import type { ServerRoute } from '../session/server-route.js';

/** Shorter than a server keeps a WebSocket without a stream. */
const LINGER_MS = 5000;
/** One attempt for a WebSocket that may be dead, and one for each route. */
const ATTEMPTS = 3;

export interface VisitorRoutesOptions {
  chooser: RouteChooser;
  logger: TunnelLogger;
  /** The server's name for connections over a WebSocket. */
  webSocketName: string;
  /** Opens a connection to the tunnel over one route. */
  visit(route: ServerRoute): Promise<TLSSocket>;
  /** Checks whether the server itself is at the end of a route. @throws Error if it is not. */
  probe(route: ServerRoute): Promise<void>;
}

/** One route to the server, shared by connections where possible. */
interface OpenRoute {
  readonly route: ServerRoute;
  /** A connection over it has succeeded. */
  proved: boolean;
  connections: number;
  timer: NodeJS.Timeout | null;
}

/** The routes to the server for a visitor's program: connections use the one that works, several over one WebSocket. */
export class VisitorRoutes {
  private readonly options: VisitorRoutesOptions;
  private open: OpenRoute | null = null;
  private reported: ServerRoute['kind'] = 'raw';
  private probing = false;
  private stopped = false;

  constructor(options: VisitorRoutesOptions) {
    this.options = options;
  }

  /** @throws TunnelError that the server answered, or that explains why no route works. */
  async connect(): Promise<TLSSocket> {
    guardPromise(null, this.probeRaw());
    const failures: TunnelError[] = [];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const way = this.current();
      const stale = way.proved;
      try {
        return await this.connectBy(way);
      } catch (error) {
        const failure = asTunnelError(error);
        if (!isOfTheWay(failure)) throw failure;
        this.leave(way);
        if (this.stopped) throw failure;
        const isPast = stale && way.route.kind === 'websocket';
        // The failure of a stale route says nothing, unless there is nothing else to report.
        if (!isPast || attempt === ATTEMPTS) failures.push(failure);
        if (isPast) continue;
        if (!this.options.chooser.failed(way.route.kind)) break;
      }
    }
    throw summary(failures);
  }

  /** Running connections are ended by their owners. */
  stop(): void {
    this.stopped = true;
    if (this.open) this.leave(this.open);
  }

  private current(): OpenRoute {
    this.open ??= { route: this.options.chooser.same(), proved: false, connections: 0, timer: null };
    return this.open;
  }

  private async connectBy(way: OpenRoute): Promise<TLSSocket> {
    if (way.timer) clearTimeout(way.timer);
    way.timer = null;
    way.connections += 1;
    try {
      const stream = await this.options.visit(way.route);
      this.works(way);
      stream.once('close', () => this.left(way));
      return stream;
    } catch (error) {
      // The server itself refused, so the route works.
      if (!isOfTheWay(asTunnelError(error))) this.works(way);
      this.left(way);
      throw error;
    }
  }

  private left(way: OpenRoute): void {
    way.connections -= 1;
    if (way.connections > 0 || this.open !== way) return;
    way.timer = setFlowTimeout(null, () => this.leave(way), LINGER_MS);
    way.timer.unref();
  }

  /** New connections do not use this route; running ones continue. */
  private leave(way: OpenRoute): void {
    if (way.timer) clearTimeout(way.timer);
    way.timer = null;
    if (this.open === way) this.open = null;
    way.route.release();
  }

  private works(way: OpenRoute): void {
    way.proved = true;
    if (this.open !== way) return;
    this.options.chooser.welcomed(way.route.kind);
    this.report(way.route.kind);
  }

  private report(kind: ServerRoute['kind']): void {
    if (this.reported === kind) return;
    this.reported = kind;
    const { logger, webSocketName: address } = this.options;
    if (kind === 'websocket') logger.info('the gateway is reached over a WebSocket', { address });
    else logger.info("the gateway is reached at its agents' port");
  }

  /** Checks in the background whether the better route works again. */
  private async probeRaw(): Promise<void> {
    const { chooser } = this.options;
    if (this.probing || !chooser.isRawDue) return;
    this.probing = true;
    try {
      await this.options.probe(chooser.route('raw'));
      if (this.stopped) return;
      chooser.welcomed('raw');
      this.report('raw');
      if (this.open?.route.kind === 'websocket') this.leave(this.open);
    } catch {
      // It does not: check again after the same time.
      chooser.failed('raw');
    } finally {
      this.probing = false;
    }
  }
}

/** A wrong key is reported first, wherever it was seen: it may be the server's. */
function summary(failures: readonly TunnelError[]): TunnelError {
  const [first] = failures;
  const said = failures.find(({ code }) => code === 'server_key' || code === 'misdirected') ?? first;
  const message = failures.map((failure) => failure.message).join('; ');
  return new TunnelError(said?.code ?? 'connection', message, { cause: first });
}
