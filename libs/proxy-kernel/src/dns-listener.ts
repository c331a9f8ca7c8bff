import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setFlowTimeout, guardPromise } from '@gatehouse/net';
import { DnsServer, type DnsServerOptions, parseNameServer, systemServers } from './dns/index.js';
import { KernelConfigError, type DnsConfig, type DnsListenConfig, type ListenerState } from './interfaces/index.js';

/** A change of the listener that can still be undone. */
export interface DnsListenerChange {
  commit(): void;
  undo(): Promise<void>;
}

export interface DnsListenerOptions extends DnsServerOptions {
  /** The wait between attempts to bind an address that another process had; 2 s. */
  retryMs?: number;
}

const RETRY_MS = 2000;

/** The DNS listener of a kernel. It stays open over reloads that do not change its address. */
export class DnsListener {
  readonly #options: DnsListenerOptions;
  #current: DnsServer | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: DnsListenerOptions) {
    this.#options = options;
  }

  states(): ListenerState[] {
    return this.#current ? [this.#current.state] : [];
  }

  /** Warnings about settings in use that cannot work as intended. */
  warnings(dns: DnsConfig | undefined): string[] {
    const [state] = this.states();
    if (!dns || !state) return [];
    return state.error === null ? dnsWarnings(dns, state.port) : [state.error];
  }

  /**
   * Binds the new address. If it overlaps the old one, the old one is closed first and opened again if the change
   * fails. With `mayFail` a taken address is tried again later, so that the rest of the kernel can start without it.
   * @throws KernelConfigError for an address that cannot be bound; nothing has changed then.
   */
  async prepare(config: DnsListenConfig | undefined, mayFail: boolean): Promise<DnsListenerChange> {
    checkListen(config);
    const before = this.#current;
    if (config && before && sameAddress(before.config, config)) {
      return { commit: () => undefined, undo: () => Promise.resolve() };
    }
    const next = config ? new DnsServer(config, this.#options) : null;
    const undo = async (): Promise<void> => {
      await next?.close();
      if (before && !before.listening) await before.listen().catch((error: Error) => before.fail(error));
    };
    try {
      if (next) await bind(next, before);
    } catch (error) {
      if (!next) throw error;
      if (!mayFail) {
        await undo();
        throw bindError(error, next);
      }
      next.fail(bindError(error, next));
    }
    return { undo, commit: () => this.#replace(next) };
  }

  async stop(): Promise<void> {
    clearTimeout(this.#retry);
    const server = this.#current;
    this.#current = null;
    await server?.close();
  }

  #replace(next: DnsServer | null): void {
    const before = this.#current;
    this.#current = next;
    if (before) guardPromise(null, before.close());
    clearTimeout(this.#retry);
    if (next && !next.listening) this.#tryAgain(next);
  }

  #tryAgain(server: DnsServer): void {
    this.#retry = setFlowTimeout(null, () => this.#listen(server), this.#options.retryMs ?? RETRY_MS);
    this.#retry.unref();
  }

  async #listen(server: DnsServer): Promise<void> {
    try {
      await server.listen();
      // It may have been replaced meanwhile.
      if (server !== this.#current) await server.close();
      else this.#options.logger.info('the DNS listener is bound', { port: server.port });
    } catch (error) {
      server.fail(bindError(error, server));
      if (server === this.#current) this.#tryAgain(server);
    }
  }
}

/** Warnings about a valid configuration that will not work as intended. @param port the one that was bound. */
export function dnsWarnings(
  { nameservers, bootstrap = [], policy = {}, listen }: DnsConfig,
  port: number,
  servers = systemServers(),
): string[] {
  if (!listen || ![...nameservers, ...bootstrap, ...Object.values(policy).flat()].includes('system')) return [];
  const asksItself = servers.some((text) => {
    const server = parseNameServer(text);
    if (server?.kind !== 'udp' || server.port !== port) return false;
    return server.host === listen.address || (isAny(listen.address) && isOwn(server.host));
  });
  return asksItself ? ['dns: the system asks this listener, which asks the system: set name servers by address'] : [];
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function isOwn(host: string): boolean {
  if (host.startsWith('127.') || host === '::1') return true;
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return interfaces.some(({ address }) => address === host);
}

async function bind(next: DnsServer, before: DnsServer | null): Promise<void> {
  try {
    await next.listen();
  } catch (error) {
    const isBlocked = (error as NodeJS.ErrnoException).code === 'EADDRINUSE' && before?.port === next.port;
    if (!isBlocked) throw error;
    await before.close();
    await next.listen();
  }
}

function sameAddress(one: DnsListenConfig, other: DnsListenConfig): boolean {
  return one.address === other.address && one.port === other.port;
}

function checkListen(config: DnsListenConfig | undefined): void {
  if (!config) return;
  const { address, port } = config;
  if (isIP(address) === 0) {
    throw new KernelConfigError('dns.listen', `${JSON.stringify(address.slice(0, 80))} is not an address`);
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new KernelConfigError('dns.listen', 'no such port');
}

function bindError(error: unknown, { config: { address, port } }: DnsServer): KernelConfigError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const reason =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not allowed' : `cannot be bound (${code})`;
  return new KernelConfigError('dns.listen', `${address}:${port} ${reason}`);
}
