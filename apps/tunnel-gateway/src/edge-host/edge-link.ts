import type { ChildProcess } from 'node:child_process';
import {
  ChannelError,
  ChannelPeer,
  type ControlEndpoint,
  type ControlKey,
  type ControlLink,
  dialControl,
  guardPromise,
} from '@gatehouse/net';
import { traceCall } from '@gatehouse/platform';
import type { EdgeCalls, EdgeLogEntry, EdgePorts } from '../common/edge-ipc.js';
import { EdgeUnavailableError } from '../common/edge-process.js';
import type { FirstStart } from '../edge-supervisor/edge-supervisor.js';
import { CHANNEL_LIMITS } from '../common/channel-limits.js';
import { patienceFor } from '../common/target-check-times.js';
import type {
  ForwardedMethod,
  SupervisorCalls,
  SupervisorHello,
  SupervisorMethod,
  SupervisorNotes,
  SupervisorStart,
} from '../common/supervisor-calls.js';

export interface EdgeLinkOptions {
  endpoint: ControlEndpoint;
  /** Key of the channel. */
  key: ControlKey;
  /** How this service starts an edge if there is none; null: the edge runs on its own. */
  own: { start: SupervisorStart; launch(start: SupervisorStart): ChildProcess } | null;
  onLogs(entries: readonly EdgeLogEntry[]): void;
  /** An edge process ended, or its supervisor. */
  onExit(reason: string): void;
  /** A problem with the connection to the edge that an operator should know about. */
  onProblem(problem: string): void;
}

const PROTOCOL = 1;
const RETRY_MS = 50;
const RETRY_LAST_MS = 1_000;
/** A connection that held this long worked: after its loss the next one is made at once. */
const STEADY_MS = 1_000;
/** How long a request waits for the next connection after a loss: another edge, or the next program, is mostly there by then. */
const RELINK_MS = 2_000;
/** Longer than a supervisor waits for its edge. */
const REQUEST_MS = 2_500;
/** As long as a new edge may take to prepare and take over. */
const REPLACE_MS = 150_000;
const NO_PORTS: EdgePorts = { agents: 0, http: 0, https: 0 };

/** The service's connection to its edge: finds a running one, starts one where it may, and reconnects. */
export class EdgeLink {
  private readonly options: EdgeLinkOptions;
  private readonly first = Promise.withResolvers<FirstStart>();
  private peer: ChannelPeer | null = null;
  /** Resolves when there is a connection again. */
  private linked = Promise.withResolvers<void>();
  /** By `performance.now()`. */
  private greetedAt = Infinity;
  private lostAt = -Infinity;
  private child: ChildProcess | null = null;
  private timer: NodeJS.Timeout | null = null;
  private attempts = 0;
  private left = false;
  private state: SupervisorHello['state'] = { edge: null, ports: NO_PORTS, failed: null };
  /** Whether the edge was running before this service. */
  tookOver = false;

  constructor(options: EdgeLinkOptions) {
    this.options = options;
  }

  /** Resolves when the outcome is known, or after `patienceMs`; attempts continue then. */
  async start(patienceMs: number): Promise<FirstStart> {
    guardPromise(null, this.connect());
    const timer = setTimeout(() => this.first.resolve({ outcome: 'waiting' }), patienceMs);
    const result = await this.first.promise;
    clearTimeout(timer);
    if (result.outcome === 'port') this.leave();
    return result;
  }

  /** The serving process; null: there is none, or it is unknown. */
  get pid(): number | null {
    return this.state.edge;
  }

  /** The bound ports; 0: not yet. */
  get ports(): EdgePorts {
    return this.state.ports;
  }

  /** @throws EdgeUnavailableError */
  async request<M extends ForwardedMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
    timeoutMs = patienceFor(method, 'supervisor') ?? REQUEST_MS,
  ): Promise<EdgeCalls[M]['result']> {
    const from = performance.now();
    const ask = (leftMs: number): Promise<EdgeCalls[M]['result']> =>
      this.call(method, params as SupervisorCalls[M]['params'], leftMs) as Promise<EdgeCalls[M]['result']>;
    try {
      return await ask(timeoutMs);
    } catch (error) {
      // The connection was lost before the answer: any of these may be asked twice, and another edge knows it as well.
      if (this.lostAt < from || !(error instanceof EdgeUnavailableError)) throw error;
      return ask(from + timeoutMs - performance.now());
    }
  }

  /** Replaces the edge's process; see `EdgeSupervisor.replace`. @throws EdgeUnavailableError */
  async replace(): Promise<void> {
    await this.call('replace', { start: null }, REPLACE_MS);
  }

  /** Ends the edge if this service started it; connections have `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const { own } = this.options;
    if (own) {
      const closed = this.closing();
      await this.call('stop', { graceMs }, graceMs + 10_000).catch(() => undefined);
      await closed;
      if (this.isStarting()) this.child?.kill('SIGTERM');
    }
    this.leave();
  }

  /** Disconnects, and leaves the edge running. */
  leave(): void {
    this.left = true;
    if (this.timer) clearTimeout(this.timer);
    this.peer?.close();
  }

  private async call<M extends SupervisorMethod>(
    method: M,
    params: SupervisorCalls[M]['params'],
    timeoutMs: number,
  ): Promise<SupervisorCalls[M]['result']> {
    const until = performance.now() + timeoutMs;
    const peer = this.peer ?? (await this.nextPeer(until));
    if (!peer) throw new EdgeUnavailableError('The edge is not reached.');
    try {
      return (await traceCall('edge', method, () =>
        peer.request(method, params, until - performance.now()),
      )) as SupervisorCalls[M]['result'];
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'unavailable') throw new EdgeUnavailableError(error.message);
      throw error;
    }
  }

  /** The connection that follows a lost one, if it is made soon enough. */
  private async nextPeer(until: number): Promise<ChannelPeer | null> {
    const waitMs = Math.min(until, this.lostAt + RELINK_MS) - performance.now();
    if (waitMs <= 0) return null;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, waitMs);
    await Promise.race([this.linked.promise, late.promise]);
    clearTimeout(timer);
    return this.peer;
  }

  private async connect(): Promise<void> {
    this.timer = null;
    const { endpoint, key, own } = this.options;
    try {
      const link = await dialControl({ endpoint, key, limits: CHANNEL_LIMITS });
      if (this.left) return link.close();
      await this.greet(this.peerOf(link));
    } catch (error) {
      if (this.left) return;
      this.peer?.close();
      const { code, message } = error as NodeJS.ErrnoException;
      const nobody = code === 'ENOENT' || code === 'ECONNREFUSED';
      if (nobody && own && !this.isStarting()) this.launch(own);
      else if (!nobody && this.attempts === 1) this.options.onProblem(message);
      this.again();
    }
  }

  private peerOf(link: ControlLink): ChannelPeer {
    const peer: ChannelPeer = new ChannelPeer(link, {
      perform: () => Promise.reject(new ChannelError('unknown', 'no such request')),
      noted: (name, value) => this.noted(name as keyof SupervisorNotes, value),
      closed: () => this.lost(peer),
    });
    this.peer = peer;
    this.linked.resolve();
    return peer;
  }

  private launch(own: NonNullable<EdgeLinkOptions['own']>): void {
    this.child = own.launch(own.start);
  }

  /** A supervisor that was just started may not listen yet. */
  private isStarting(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  private again(): void {
    if (this.left || this.timer) return;
    this.attempts += 1;
    const waitMs = this.isStarting() ? RETRY_MS : Math.min(RETRY_MS * 2 ** this.attempts, RETRY_LAST_MS);
    this.timer = setTimeout(() => guardPromise(null, this.connect()), waitMs);
  }

  private async greet(peer: ChannelPeer): Promise<void> {
    const { own } = this.options;
    const greeting: SupervisorCalls['hello']['params'] = { protocol: PROTOCOL, ...(own && { watch: own.start.watch }) };
    const hello = (await peer.request('hello', greeting, REQUEST_MS)) as SupervisorHello;
    if (hello.protocol !== PROTOCOL) throw new Error(`the edge speaks version ${hello.protocol} of the channel`);
    this.attempts = 0;
    this.greetedAt = performance.now();
    this.tookOver = this.child === null;
    this.noted('state', hello.state);
    if (!own || hello.optionsId === own.start.optionsId) return;
    const { edge, optionsId } = own.start;
    this.call('replace', { start: { edge, optionsId } }, REPLACE_MS).catch((error: unknown) => {
      this.options.onProblem(`the edge serves on with other settings: ${String(error)}`);
    });
  }

  private noted<N extends keyof SupervisorNotes>(name: N, value: unknown): void {
    if (name === 'logs') this.options.onLogs(value as SupervisorNotes['logs']);
    else if (name === 'exited' && !this.left) this.options.onExit(value as SupervisorNotes['exited']);
    else if (name === 'state') this.know(value as SupervisorNotes['state']);
  }

  private know(state: SupervisorNotes['state']): void {
    this.state = state;
    const { failed, ports } = state;
    if (failed) this.first.resolve({ outcome: 'port', ...failed });
    else if (ports.agents > 0) this.first.resolve({ outcome: 'ready', ports });
  }

  private lost(peer: ChannelPeer): void {
    if (this.peer !== peer) return;
    const now = performance.now();
    const wasSteady = now - this.greetedAt >= STEADY_MS;
    this.peer = null;
    this.greetedAt = Infinity;
    this.state = { ...this.state, edge: null };
    if (this.left) return;
    this.lostAt = now;
    this.linked = Promise.withResolvers();
    this.options.onExit('its supervisor is not reached');
    this.attempts = 0;
    // The name may stand for other edges, too.
    if (wasSteady) guardPromise(null, this.connect());
    else this.again();
  }

  /** Resolves when the other end has closed; immediately if there is none. */
  private async closing(): Promise<void> {
    while (this.peer) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
