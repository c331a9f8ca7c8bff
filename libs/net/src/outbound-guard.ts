import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { isPublicAddress, isSpecialUseName } from './special-purpose.js';

export interface OutboundGuardOptions {
  /** Lets everything be connected to, addresses of this machine and its networks included. */
  allowPrivate?: boolean | undefined;
  /** How names are resolved; the system's way. */
  resolve?: ((host: string) => Promise<LookupAddress[]>) | undefined;
  /** Which addresses may be connected to; those of the Internet. */
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
 * Decides what may be connected to when somebody else named the address. Use both parts for every request and again for
 * every redirect: `checkHost` before it, since sockets do not look up addresses, and `lookup` as the socket's way of
 * resolving. Because the addresses judged are those that are dialled, a name that answers differently the second time
 * gains nothing.
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
   * Judges what can be judged without resolving: addresses, in URL brackets or without, and names of special use.
   * @throws ForbiddenTargetError
   */
  checkHost(hostname: string): void {
    const host = withoutBrackets(hostname);
    if (this.#allowPrivate) return;
    if (isIP(host) === 0 ? isSpecialUseName(host) : !this.#permits(host)) throw new ForbiddenTargetError(host);
  }

  /**
   * Every address of a host, all of them permitted: an honest name does not mix them with others.
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
