import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { DnsServer, type DnsServerOptions, parseNameServer, systemServers } from './dns/index.js';
import { KernelConfigError, type DnsConfig, type DnsListenConfig, type ListenerState } from './interfaces/index.js';

/** A change of the listener that can still be taken back. */
export interface DnsListenerChange {
  commit(): void;
  undo(): Promise<void>;
}

/** The listener for questions of one kernel, kept through reloads that leave its address alone. */
export class DnsListener {
  readonly #options: DnsServerOptions;
  #current: DnsServer | null = null;

  constructor(options: DnsServerOptions) {
    this.#options = options;
  }

  states(): ListenerState[] {
    return this.#current ? [this.#current.state] : [];
  }

  /**
   * Binds what is new. Where it overlaps the address that goes, that one is given up first and comes back if the change fails.
   * @throws KernelConfigError for an address that cannot be bound; nothing has changed then.
   */
  async prepare(config: DnsListenConfig | undefined): Promise<DnsListenerChange> {
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
    if (next)
      await bind(next, before).catch(async (error: unknown) =>
        undo().then(() => Promise.reject(bindError(error, next))),
      );
    return {
      undo,
      commit: () => {
        this.#current = next;
        void before?.close();
      },
    };
  }

  async stop(): Promise<void> {
    await this.#current?.close();
  }
}

/** What a working configuration will not do as it is meant to; `port`: the one really bound. */
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
