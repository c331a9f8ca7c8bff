import type { Server, Socket } from 'node:net';
import { createTcpServer, listenTcp } from '@gatehouse/net';
import { KernelConfigError, type Inbound, type ListenerConfig, type ListenerState } from './interfaces/index.js';

/** Connections of one listener; a process has its own limit of descriptors below or above this. */
const MAX_CONNECTIONS = 32_768;

/** One bound address. Its configuration may be exchanged while it listens. */
export class Listener {
  config: ListenerConfig;
  private readonly server: Server;
  private readonly inbound: Inbound;
  private readonly sockets = new Set<Socket>();
  private failure: string | null = null;
  private stopped = false;
  private boundPort = 0;

  constructor(config: ListenerConfig, createInbound: (listener: Listener) => Inbound) {
    this.config = config;
    this.inbound = createInbound(this);
    this.server = createTcpServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true },
      (socket) => this.accepted(socket),
    );
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  async listen(): Promise<void> {
    const { address: host, port } = this.config;
    this.boundPort = await listenTcp(this.server, { host, port }, (error) => this.fail(error));
  }

  fail(error: Error): void {
    this.failure = error.message;
  }

  /** The port really bound, also while suspended. */
  get port(): number {
    return this.boundPort || this.config.port;
  }

  get listening(): boolean {
    return this.server.listening;
  }

  get connections(): number {
    return this.sockets.size;
  }

  state(): ListenerState {
    const { name, type, address } = this.config;
    const state = this.failure === null ? 'listening' : 'failed';
    return { name, type, address, port: this.port, state, error: this.failure };
  }

  /** Gives the address up; `listen` takes it again. Open connections go on. */
  suspend(): void {
    if (this.server.listening) this.server.close();
  }

  /** Accepts no more; open connections go on. */
  stop(): void {
    this.suspend();
    this.stopped = true;
    this.closeInboundWhenIdle();
  }

  /** Ends what is still connected. */
  destroyConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private accepted(socket: Socket): void {
    // It accepts again, whatever went wrong before.
    this.failure = null;
    this.sockets.add(socket);
    // Stays for the socket's life; whoever serves it sees `close`.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.closeInboundWhenIdle();
    });
    this.inbound.accept(socket);
  }

  private closeInboundWhenIdle(): void {
    if (this.stopped && this.sockets.size === 0) this.inbound.close();
  }
}

/** The change from one set of listeners to another: kept, added, removed. Nothing is closed until `commit`. */
export class ListenerSet {
  private current: Listener[] = [];
  /** Gone from the configuration, with connections still open. */
  private draining: Listener[] = [];
  private readonly createInbound: (listener: Listener) => Inbound;

  constructor(createInbound: (listener: Listener) => Inbound) {
    this.createInbound = createInbound;
  }

  states(): ListenerState[] {
    return this.current.map((listener) => listener.state());
  }

  /**
   * Binds what is new and answers what completes the change. Where a new address overlaps an old one that goes
   * (`0.0.0.0:7890` to `127.0.0.1:7890`), the old one stops accepting first and comes back if the change fails.
   * @throws KernelConfigError naming the listener that cannot be bound; nothing has changed then.
   */
  async prepare(configs: readonly ListenerConfig[]): Promise<() => void> {
    checkNames(configs);
    const leaving = new Set(this.current);
    const plan = configs.map((config) => ({ config, kept: takeMatch(leaving, config) }));
    const added: Listener[] = [];
    const result: Listener[] = [];
    for (const [index, { config, kept }] of plan.entries()) {
      const listener = kept ?? new Listener(config, this.createInbound);
      result.push(listener);
      if (kept) continue;
      try {
        await bind(listener, leaving);
        added.push(listener);
      } catch (error) {
        listener.stop();
        await undo(added, leaving);
        throw bindError(error, config, index);
      }
    }
    return () => {
      for (const { config, kept } of plan) if (kept) kept.config = config;
      this.current = result;
      for (const listener of leaving) listener.stop();
      this.draining.push(...leaving);
      this.draining = this.draining.filter(({ connections }) => connections > 0);
    };
  }

  destroyConnections(): void {
    for (const listener of [...this.current, ...this.draining]) listener.destroyConnections();
  }

  stop(): void {
    for (const listener of this.current) listener.stop();
  }
}

async function bind(listener: Listener, leaving: ReadonlySet<Listener>): Promise<void> {
  try {
    await listener.listen();
  } catch (error) {
    const blockers = [...leaving].filter((old) => old.listening && old.port === listener.config.port);
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || blockers.length === 0) throw error;
    for (const blocker of blockers) blocker.suspend();
    await listener.listen();
  }
}

/** Takes a half-made change back: what was added goes, what was suspended listens again. */
async function undo(added: readonly Listener[], leaving: ReadonlySet<Listener>): Promise<void> {
  for (const listener of added) listener.stop();
  for (const listener of leaving)
    if (!listener.listening) await listener.listen().catch((error: Error) => listener.fail(error));
}

function takeMatch(unused: Set<Listener>, config: ListenerConfig): Listener | undefined {
  for (const listener of unused) {
    const { config: old } = listener;
    const samePort = old.port === config.port && (config.port !== 0 || old.name === config.name);
    if (old.address === config.address && samePort) {
      unused.delete(listener);
      return listener;
    }
  }
  return undefined;
}

function checkNames(configs: readonly ListenerConfig[]): void {
  const names = new Set<string>();
  for (const [index, { name }] of configs.entries()) {
    if (names.has(name)) throw new KernelConfigError(`listeners[${index}].name`, `${name} is used twice`);
    names.add(name);
  }
}

function bindError(error: unknown, { address, port }: ListenerConfig, index: number): KernelConfigError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const reason =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed' : `cannot be bound (${code})`;
  return new KernelConfigError(`listeners[${index}]`, `${address}:${port} ${reason}`);
}
