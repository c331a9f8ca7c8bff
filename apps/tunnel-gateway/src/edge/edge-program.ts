import type { Socket } from 'node:net';
import { FlowFailures, guardPromise, type SocketHandle } from '@gatehouse/net';
import { startTracing, type RunningTracing } from '@gatehouse/tracing';
import { EdgeDoor } from './door/edge-door.js';
import { Edge } from './edge.js';
import type {
  DrainParams,
  EdgeMessage,
  EdgeOptions,
  EdgePorts,
  EdgeRequest,
  EdgeStatus,
  ParentMessage,
} from '../common/edge-ipc.js';
import type { WantedState } from '../common/edge-leases.js';
import { EdgeLog } from './edge-log.js';
import { EdgePortError } from './edge-port-error.js';
import type { EdgeRole } from './edge-role.js';

type SocketMessage = Extract<ParentMessage, { type: 'socket' }>;
type ConnectionMessage = Extract<ParentMessage, { type: 'connection' }>;

/** What the program needs of its process. */
export interface EdgeChannel {
  send(message: EdgeMessage): Promise<void>;
  /** Sends a message with a listening socket. */
  sendSocket(message: EdgeMessage, handle: SocketHandle): void;
  exit(code: number): void;
}

/** Without a service, connections get little time to end. */
const ORPHAN_LIMIT_MS = 5_000;

/** Runs an edge and answers the service's requests. */
export class EdgeProgram {
  private readonly channel: EdgeChannel;
  private readonly log: EdgeLog;
  private readonly flowFailures: FlowFailures;
  private edge: EdgeRole | null = null;
  /** Only in a worker: receives the connections from the door. */
  private worker: Edge | null = null;
  private tracing: RunningTracing | null = null;
  private ending = false;

  constructor(channel: EdgeChannel) {
    this.channel = channel;
    this.log = new EdgeLog((entries) => guardPromise(null, channel.send({ type: 'logs', entries })));
    const logger = this.log.logger(false);
    this.flowFailures = new FlowFailures((message, fields) => logger.error(message, fields));
  }

  /** Serves a connection that the door accepted. */
  take({ port, head }: ConnectionMessage, socket: Socket | null): void {
    // It closed on the way.
    if (!socket) return;
    if (this.worker) this.worker.receive(port, socket, Buffer.from(head, 'base64'));
    else socket.destroy();
  }

  /** Takes over a socket that another process listens on. */
  inherit({ key }: SocketMessage, handle: SocketHandle | null): void {
    // It was closed on the way.
    if (!handle) return;
    if (this.edge) this.edge.inherit({ key, handle });
    else handle.close();
  }

  async receive(message: Exclude<ParentMessage, ConnectionMessage | SocketMessage>): Promise<void> {
    if (message.type === 'start') await this.start(message.options);
    else if (message.type === 'bind') await this.bind(message.ports, message.moving);
    else if (message.type === 'admit') await this.open(null);
    else await this.answer(message);
  }

  /** The service has ended: writes the counters and ends this process. */
  async orphaned(): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    setTimeout(() => this.channel.exit(1), ORPHAN_LIMIT_MS).unref();
    await this.edge?.close({ stays: false });
    await this.tracing?.stop();
    this.channel.exit(0);
  }

  /** After an unexpected failure the service starts another process. */
  async fail(error: unknown): Promise<void> {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.log.logger(false).error('the edge failed', { error: text });
    this.log.flush();
    // The channel is ordered: once this was sent, so were the lines before it.
    await this.channel.send({ type: 'logs', entries: [] });
    this.channel.exit(1);
  }

  private async start(options: EdgeOptions): Promise<void> {
    await this.trace(options);
    this.edge = this.roleOf(options);
    await this.edge.prepare();
    if (options.takesOver) await this.channel.send({ type: 'prepared' });
    else await this.bind(null, null);
  }

  /** The door of several workers serves nobody itself. */
  private async trace({ tracing, workers, debug }: EdgeOptions): Promise<void> {
    if (!tracing || workers > 1) return;
    const logger = this.log.logger(debug);
    this.tracing = await startTracing(tracing, {
      failed: (reason) =>
        logger.warn('the receiver of traces does not take them; they are lost until it does', { reason }),
      resumed: (lost) => logger.info('the receiver of traces takes them again', { lost }),
    });
  }

  private roleOf(options: EdgeOptions): EdgeRole {
    const logger = this.log.logger(options.debug);
    const onWanted = (state: WantedState): void => guardPromise(null, this.channel.send({ type: 'wanted', state }));
    if (options.workers > 1) return new EdgeDoor(options, logger, onWanted);
    const edge = new Edge(options, logger, onWanted);
    if (options.worker) this.worker = edge;
    return edge;
  }

  /** `moving`: binds the ports for visitors first. */
  private async bind(given: EdgePorts | null, moving: number[] | null): Promise<void> {
    if (!moving) return this.open(given);
    await this.orGiveUp(async () => this.edge?.openForVisitors(given, moving));
    if (given) await this.open(given);
    else await this.channel.send({ type: 'bound' });
  }

  private async open(given: EdgePorts | null): Promise<void> {
    const ports = await this.orGiveUp(async () => this.edge?.open(given));
    if (ports) await this.channel.send({ type: 'ready', ports });
  }

  /** Without a port of the gateway itself, the edge cannot continue. */
  private async orGiveUp<T>(binding: () => Promise<T>): Promise<T | null> {
    try {
      return await binding();
    } catch (error) {
      if (!(error instanceof EdgePortError)) throw error;
      this.log.flush();
      await this.channel.send({ type: 'failed', port: error.port, code: error.code, message: error.message });
      this.channel.exit(1);
      return null;
    }
  }

  private async answer(request: EdgeRequest): Promise<void> {
    const { id } = request;
    try {
      const result = await this.perform(request);
      await this.channel.send({ type: 'response', id, ok: true, result });
    } catch (error) {
      await this.channel.send({ type: 'response', id, ok: false, message: String(error) });
    }
    if (request.method === 'shutdown') this.channel.exit(0);
  }

  private async perform(request: EdgeRequest): Promise<unknown> {
    const { edge } = this;
    if (!edge) throw new Error('the edge was not started');
    switch (request.method) {
      case 'ping':
        return null;
      case 'status':
        return this.status(edge);
      case 'agents':
        return edge.agents(request.params.clientIds);
      case 'tunnels':
        return edge.tunnels(request.params.ids);
      case 'checkedTargets':
        return edge.checkedTargets(request.params.hostIds);
      case 'connections':
        return edge.connections(request.params.clientId, request.params.limit);
      case 'requests':
        return edge.requests(request.params);
      case 'replay':
        return edge.replay(request.params);
      case 'checkTarget':
        return edge.checkTarget(request.params.clientId, request.params.resource, request.params.port);
      case 'peers':
        return edge.peers(request.params);
      case 'kick':
        return edge.kick(request.params.clientId);
      case 'handOver':
        return edge.handOver(({ key, handle }) => this.channel.sendSocket({ type: 'socket', key }, handle));
      case 'yield':
        await edge.yieldPorts();
        return null;
      case 'drain':
        this.drainAway(edge, request.params).catch((error: unknown) => this.fail(error));
        await edge.released();
        return null;
      case 'retire':
        edge.retire(request.params).catch((error: unknown) => this.fail(error));
        await edge.released();
        return null;
      case 'shutdown':
        this.ending = true;
        await edge.shutdown(request.params.graceMs);
        await this.tracing?.stop();
        this.log.flush();
        return null;
    }
  }

  private async status(edge: EdgeRole): Promise<EdgeStatus> {
    const status = await edge.status();
    return { ...status, flowFailures: (status.flowFailures ?? 0) + this.flowFailures.total };
  }

  private async drainAway(edge: EdgeRole, params: DrainParams): Promise<void> {
    await edge.drain(params);
    await edge.close({ stays: true });
    await this.tracing?.stop();
    this.log.flush();
    await this.channel.send({ type: 'logs', entries: [] });
    this.channel.exit(0);
  }
}
