import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isPublicAddress, isSpecialUseName } from './special-purpose.js';

export interface OutboundGuardOptions {
  /** Permits all addresses, including those of this machine and its networks. */
  allowPrivate?: boolean | undefined;
  /** Resolves names. Default: the system's resolver. */
  resolve?: ((host: string) => Promise<LookupAddress[]>) | undefined;
  /** Which addresses are permitted. Default: those of the Internet. */
  permits?: ((address: string) => boolean) | undefined;
}

/** A host that a guarded request must not connect to. */
export class ForbiddenTargetError extends Error {
  readonly code = 'EACCES';
  readonly host: string;

  constructor(host: string) {
    super(`${host} is an address of this machine or of a network of its own, or a reserved one`);
    this.name = 'ForbiddenTargetError';
    this.host = host;
  }
}

/**
 * Decides which hosts may be connected to when the address comes from outside. Use both parts for every request and again
 * for every redirect: `checkHost` before it, because sockets do not look up literal addresses, and `lookup` as the socket's
 * resolver. The addresses that are checked are those that are dialled, so DNS rebinding gains nothing.
 */
export class OutboundGuard {
  readonly #allowPrivate: boolean;
  readonly #resolve: (host: string) => Promise<LookupAddress[]>;
  readonly #permits: (address: string) => boolean;

  constructor({ allowPrivate = false, resolve, permits = isPublicAddress }: OutboundGuardOptions = {}) {
    this.#allowPrivate = allowPrivate;
    this.#resolve = resolve ?? ((host) => dns.lookup(host, { all: true }));
    this.#permits = permits;
  }

  /**
   * Checks what can be checked without resolving: addresses, with or without URL brackets, and special-use names.
   * @throws ForbiddenTargetError
   */
  checkHost(hostname: string): void {
    const host = withoutBrackets(hostname);
    if (this.#allowPrivate) return;
    if (isIP(host) === 0 ? isSpecialUseName(host) : !this.#permits(host)) throw new ForbiddenTargetError(host);
  }

  /**
   * Resolves a host. One forbidden address refuses all: an honest name does not mix public and private addresses.
   * @throws ForbiddenTargetError, or whatever the resolver throws
   */
  async addressesOf(hostname: string): Promise<LookupAddress[]> {
    this.checkHost(hostname);
    const host = withoutBrackets(hostname);
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const found = await this.#resolve(host);
    if (!this.#allowPrivate && found.some(({ address }) => !this.#permits(address))) {
      throw new ForbiddenTargetError(host);
    }
    return found;
  }

  /** For `lookup` of sockets and of HTTP and TLS requests. */
  get lookup(): LookupFunction {
    const find = callbackify((host: string) => this.addressesOf(host));
    return (host, { all, family }, done) => {
      find(host, (error, found) => {
        const fit = error ? [] : found.filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = fit;
        if (!first) done(error ?? noAddress(host), []);
        else if (all) done(null, fit);
        else done(null, first.address, first.family);
      });
    };
  }
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
