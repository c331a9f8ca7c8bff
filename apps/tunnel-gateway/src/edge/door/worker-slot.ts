import type { Socket } from 'node:net';
import type { HandedSocket } from '@gatehouse/net';
import type {
  DrainParams,
  EdgeCalls,
  EdgeLogEntry,
  EdgeMethod,
  EdgeOptions,
  EdgePorts,
  PortName,
} from '../../common/edge-ipc.js';
import type { WantedState } from '../../common/edge-leases.js';
import { EdgeProcess, EdgeUnavailableError, type EdgeChild } from '../../common/edge-process.js';
import { RestartWaits } from '@gatehouse/child';

/** The part of a `ChildProcess` that a worker needs. */
export type WorkerChild = EdgeChild;

export interface WorkerSlotOptions {
  index: number;
  launch(): WorkerChild;
  edge: EdgeOptions;
  onLogs(entries: readonly EdgeLogEntry[]): void;
  /** What an administrator wants of the edge. */
  onWanted(state: WantedState): void;
  onExit(reason: string): void;
}

interface Waiting {
  send(): void;
  timer: NodeJS.Timeout;
  socket: Socket;
}

/** Connections that wait for a worker to restart. */
const MAX_WAITING = 1_024;
const WAIT_MS = 5_000;
/** Upper bound for unacknowledged connections. */
const MAX_UNDERWAY = 4_096;

/** One worker: its process, the successor when that dies, and the connections for it. */
export class WorkerSlot {
  private readonly options: WorkerSlotOptions;
  private readonly prepared = Promise.withResolvers<void>();
  private readonly bound = Promise.withResolvers<void>();
  private readonly waiting = new Set<Waiting>();
  private readonly underway = new Set<Socket>();
  private current: { process: EdgeProcess; child: WorkerChild } | null = null;
  private ready = false;
  /** Set when the shared ports are bound: workers may start to serve. */
  private ports: EdgePorts | null = null;
  private isPrepared = false;
  private readonly restarts = new RestartWaits();
  private timer: NodeJS.Timeout | null = null;
  private ending = false;
  /** Receives the sockets that the worker passes on. */
  onSocket: (socket: HandedSocket) => void = ({ handle }) => handle.close();

  constructor(options: WorkerSlotOptions) {
    this.options = options;
  }

  get pid(): number | null {
    return this.current?.process.pid ?? null;
  }

  get serving(): boolean {
    return this.ready;
  }

  /** Resolves when the process has its configuration. */
  prepare(): Promise<void> {
    this.spawn();
    return this.prepared.promise;
  }

  /** Resolves when the worker serves. */
  bind(ports: EdgePorts, moving: number[] | null = null): Promise<void> {
    this.ports = ports;
    if (this.isPrepared) this.current?.process.bind(ports, moving);
    return this.bound.promise;
  }

  /** Passes a connection to the worker; it waits briefly if the worker is restarting. */
  hand(port: PortName, socket: Socket, head: Buffer): void {
    if (this.ending || this.underway.size >= MAX_UNDERWAY) return void socket.resetAndDestroy();
    const send = (): void => this.send(port, socket, head);
    if (this.ready) return send();
    if (this.waiting.size >= MAX_WAITING) return void socket.resetAndDestroy();
    const waiting: Waiting = { send, socket, timer: setTimeout(() => this.giveUp(waiting), WAIT_MS) };
    this.waiting.add(waiting);
  }

  /** Sends the worker a socket that another process listens on. `done`: it may be closed here. */
  inherit(socket: HandedSocket, done: () => void): void {
    if (this.current) this.current.process.inherit(socket, done);
    else done();
  }

  /** @throws EdgeUnavailableError */
  request<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
    timeoutMs?: number,
  ): Promise<EdgeCalls[M]['result']> {
    const { current } = this;
    if (!current) return Promise.reject(new EdgeUnavailableError('The worker is not running.'));
    return current.process.request(method, params, timeoutMs);
  }

  /** Releases its ports and ends after its last connection, without a successor. */
  async drain(params: DrainParams): Promise<void> {
    this.end();
    await this.request('drain', params).catch(() => this.current?.process.kill());
  }

  /** As `drain`, but the process stays. */
  async retire(params: DrainParams): Promise<void> {
    this.end();
    await this.request('retire', params).catch(() => this.current?.process.kill());
  }

  /** Stops it without a successor. */
  async stop(graceMs: number): Promise<void> {
    this.end();
    await this.current?.process.stop(graceMs);
  }

  /** Resolves when the process has ended. */
  async exited(): Promise<void> {
    await this.current?.process.exited;
  }

  private end(): void {
    this.ending = true;
    this.ready = false;
    if (this.timer) clearTimeout(this.timer);
    for (const waiting of this.waiting) this.giveUp(waiting);
  }

  private spawn(): void {
    const { options } = this;
    this.timer = null;
    this.restarts.started();
    this.isPrepared = false;
    const child = options.launch();
    const process: EdgeProcess = new EdgeProcess(child, options.edge, {
      prepared: () => {
        this.isPrepared = true;
        this.prepared.resolve();
        if (this.ports) process.bind(this.ports);
      },
      ready: () => this.serves(),
      // A worker binds no port of the gateway itself.
      failed: () => process.kill(),
      socket: (socket) => this.onSocket(socket),
      wanted: (state) => options.onWanted(state),
      logs: (entries) => options.onLogs(entries),
      exited: (reason) => this.died(reason),
    });
    this.current = { process, child };
  }

  private serves(): void {
    if (this.ending) return;
    this.ready = true;
    this.bound.resolve();
    for (const waiting of this.waiting) {
      clearTimeout(waiting.timer);
      waiting.send();
    }
    this.waiting.clear();
  }

  private send(port: PortName, socket: Socket, head: Buffer): void {
    const { child } = this.current ?? {};
    if (!child) return void socket.destroy();
    this.underway.add(socket);
    child.send({ type: 'connection', port, head: head.toString('base64') }, socket, (error) => {
      this.underway.delete(socket);
      if (error) socket.destroy();
    });
  }

  private giveUp(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.waiting.delete(waiting);
    waiting.socket.resetAndDestroy();
  }

  private died(reason: string): void {
    this.ready = false;
    this.current = null;
    // Connections that it had not accepted; nothing else closes them.
    for (const socket of this.underway) socket.destroy();
    this.underway.clear();
    if (this.ending) return;
    this.options.onExit(reason);
    this.timer = setTimeout(() => this.spawn(), this.restarts.died());
  }
}
