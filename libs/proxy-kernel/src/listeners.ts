import type { Server, Socket } from 'node:net';
import { createTcpServer, listenTcp, releaseListenersOnClose } from '@gatehouse/net';
import { KernelConfigError, type Inbound, type ListenerConfig, type ListenerState } from './interfaces/index.js';

/** The most connections of one listener, whatever the process's limit of descriptors is. */
const MAX_CONNECTIONS = 32_768;

/** A bound address. Its configuration may be replaced while it listens. */
export class Listener {
  config: ListenerConfig;
  private readonly server: Server;
  private readonly inbound: Inbound;
  private readonly sockets = new Set<Socket>();
  private failure: string | null = null;
  private stopped = false;
  private readonly shared: boolean;
  private boundPort = 0;

  /** @param shared other kernels listen on the same port. */
  constructor(config: ListenerConfig, createInbound: (listener: Listener) => Inbound, shared = false) {
    this.config = config;
    this.shared = shared;
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
    const to = { host, port, shared: this.shared };
    this.boundPort = await listenTcp(this.server, to, (error) => this.fail(error));
  }

  fail(error: Error): void {
    this.failure = error.message;
  }

  /** The port that was bound, also while suspended. */
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

  /** Releases the address until `listen` is called again. Open connections stay open. */
  suspend(): void {
    if (this.server.listening) this.server.close();
  }

  /** Stops accepting; open connections stay open. */
  stop(): void {
    this.suspend();
    this.stopped = true;
    this.closeInboundWhenIdle();
  }

  /** Destroys the open connections. */
  destroyConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private accepted(socket: Socket): void {
    // It accepts again, so an earlier failure is over.
    this.failure = null;
    this.sockets.add(socket);
    // Stays for the socket's life; its handler sees `close`.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.closeInboundWhenIdle();
    });
    releaseListenersOnClose(socket);
    this.inbound.accept(socket);
  }

  private closeInboundWhenIdle(): void {
    if (this.stopped && this.sockets.size === 0) this.inbound.close();
  }
}

/** Changes from one set of listeners to another: kept, added, removed. Nothing is closed until `commit`. */
export class ListenerSet {
  private current: Listener[] = [];
  /** No longer in the configuration, but with open connections. */
  private draining: Listener[] = [];
  private readonly createInbound: (listener: Listener) => Inbound;
  private readonly shared: boolean;

  constructor(createInbound: (listener: Listener) => Inbound, shared = false) {
    this.createInbound = createInbound;
    this.shared = shared;
  }

  states(): ListenerState[] {
    return this.current.map((listener) => listener.state());
  }

  /**
   * Binds new addresses and returns a function that completes the change. If a new address overlaps an old one that is
   * removed (`0.0.0.0:7890` to `127.0.0.1:7890`), the old one stops accepting first and is restored if the change
   * fails.
   * @throws KernelConfigError naming the listener that cannot be bound; nothing has changed then.
   */
  async prepare(configs: readonly ListenerConfig[]): Promise<() => void> {
    checkNames(configs);
    const leaving = new Set(this.current);
    const plan = configs.map((config) => ({ config, kept: takeMatch(leaving, config) }));
    const added: Listener[] = [];
    const result: Listener[] = [];
    for (const [index, { config, kept }] of plan.entries()) {
      const listener = kept ?? new Listener(config, this.createInbound, this.shared);
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

/** Undoes a partial change: closes added listeners and restores suspended ones. */
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
