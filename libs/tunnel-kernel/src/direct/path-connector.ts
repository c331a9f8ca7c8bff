import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteReader, setFlowTimeout } from '@gatehouse/net';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { endpoint } from '../base/endpoint.js';
import { Backoff } from '../base/backoff.js';
import { VISITOR_PROTOCOL } from '../session/agent-listener.js';
import type { PinnedServer } from '../session/pinned-tls.js';
import { MAX_RENDEZVOUS_BYTES, readPath } from '../wire/rendezvous.js';
import { decodeVisitAnswer, encodeVisit } from '../wire/visit.js';
import type { VisitorKey } from '../wire/visitor-key.js';
import { AgentSearch } from './agent-search.js';
import { connectFrom, resolveServer } from './own-port.js';
import { VisitorPath } from './visitor-path.js';

const CONNECT_MS = 10_000;
/** Time limit for the agent to show its address. */
const MEET_MS = 15_000;
const RETRY = { firstMs: 2000, mostMs: 300_000 };
/** A path that lasted this long resets the backoff. */
const STABLE_MS = 30_000;
/** Pause after the server said that the tunnel has no direct paths; it may get them later. */
const RELAY_MS = 600_000;
/** As at the server: grace period for running connections once nobody could end the path. */
const GRACE_MS = 5000;

export interface PathConnectorOptions {
  server: HostAndPort;
  key: VisitorKey;
  pinned: PinnedServer;
  logger: TunnelLogger;
}

/** Maintains a direct path to the tunnel's agent, and reconnects when it ends. */
export class PathConnector {
  private readonly options: PathConnectorOptions;
  private readonly backoff = new Backoff(Math.random, RETRY);
  private timer: NodeJS.Timeout | null = null;
  private rendezvous: TLSSocket | null = null;
  private search: AgentSearch | null = null;
  private current: VisitorPath | null = null;
  private stopped = false;

  constructor(options: PathConnectorOptions) {
    this.options = options;
  }

  /** Null: connections go through the server. */
  get path(): VisitorPath | null {
    return this.current?.isOpen ? this.current : null;
  }

  start(): void {
    this.timer = null;
    this.attempt().catch((error: unknown) => {
      this.options.logger.debug('there is no direct path', { reason: (error as Error).message });
      this.rendezvous?.destroy();
      this.again(this.backoff.next());
    });
  }

  stop(): void {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    this.search?.fail(new TunnelError('stopped', 'the visitor was stopped'));
    this.current?.close();
    this.rendezvous?.destroy();
  }

  private again(delayMs: number): void {
    if (this.stopped || this.timer) return;
    this.timer = setFlowTimeout(null, () => this.start(), delayMs);
  }

  private async attempt(): Promise<void> {
    const { server, pinned } = this.options;
    const socket = await connectFrom(0, await resolveServer(server), CONNECT_MS);
    const stream = await pinned.secure(socket, VISITOR_PROTOCOL, CONNECT_MS);
    stream.on('error', () => undefined);
    this.rendezvous = stream;
    if (this.stopped) return void stream.destroy();
    const reader = new ByteReader(stream, MAX_RENDEZVOUS_BYTES);
    const timer = setFlowTimeout(stream, () => stream.destroy(), MEET_MS);
    stream.once('close', () => clearTimeout(timer));
    stream.write(encodeVisit({ ...this.options.key, purpose: 'rendezvous' }));
    const answer = decodeVisitAnswer((await reader.read(1))[0] ?? -1);
    if (answer === 'relay') return this.giveUp(stream);
    if (answer !== 'welcome') throw new TunnelError('connection', `the server says: ${answer}`);
    const message = await readPath(reader);
    clearTimeout(timer);
    const { address: host, port } = ownEnd(socket);
    const search = new AgentSearch(message, { host, port });
    this.search = search;
    stream.once('close', () => search.fail(new TunnelError('connection', 'the server ended the rendezvous')));
    const direct = await search.find();
    if (this.stopped || stream.destroyed) return void direct.destroy();
    reader.restore();
    this.stands(stream, direct);
  }

  private giveUp(stream: TLSSocket): void {
    stream.destroy();
    this.options.logger.debug('the tunnel has no direct paths');
    this.again(RELAY_MS);
  }

  private stands(rendezvous: TLSSocket, direct: TLSSocket): void {
    const { logger } = this.options;
    const since = performance.now();
    const path: VisitorPath = new VisitorPath(direct, ({ message: reason }) => {
      this.current = null;
      rendezvous.destroy();
      if (!this.stopped) logger.info('connections go through the gateway: the direct path is over', { reason });
      if (performance.now() - since > STABLE_MS) this.backoff.reset();
      this.again(this.backoff.next());
    });
    if (!path.isOpen) return;
    this.current = path;
    rendezvous.on('end', () => rendezvous.destroy());
    rendezvous.once('close', () => path.retire(GRACE_MS));
    rendezvous.resume();
    logger.info('connections go directly to the agent', { address: path.address });
  }
}

function ownEnd(socket: Socket): { address: string; port: number } {
  return endpoint(socket.localAddress, socket.localPort);
}
