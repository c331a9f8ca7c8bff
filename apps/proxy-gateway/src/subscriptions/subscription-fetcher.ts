import { lookup } from 'node:dns';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { isPublicAddress } from '@gatehouse/net';
import { Agent, buildConnector, ProxyAgent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { readBounded } from './bounded-body.js';
import { FetchFailure } from './fetch-failure.js';

export interface FetchRequest {
  url: string;
  userAgent: string;
  timeoutMs: number;
  maxBytes: number;
  /** Also fetch from private, loopback and link-local addresses. */
  allowPrivate: boolean;
  etag: string | null;
  lastModified: string | null;
  /** `http://host:port` of a proxy to go through; absent: straight to the provider. */
  proxy?: string;
}

export type ReplyHeaders = Record<string, string>;

export type FetchReply =
  | { kind: 'not_modified'; httpStatus: number; headers: ReplyHeaders }
  | {
      kind: 'content';
      httpStatus: number;
      headers: ReplyHeaders;
      content: Buffer;
      receivedBytes: number;
      /** Whether a reply that was cut short would have been noticed: its length, its chunks or its compression tell. */
      whole: boolean;
    };

type ResolveAll = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const MAX_REDIRECTS = 5;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Fetches subscriptions. Which address may be dialled is decided on the address that DNS gave for this very connection,
 * at every redirect anew: a name that answers differently the second time gains nothing.
 */
export class SubscriptionFetcher {
  readonly #resolveAll: ResolveAll;
  readonly #isBlocked: (address: string) => boolean;

  constructor(resolveAll: ResolveAll = lookup, isBlocked = (address: string): boolean => !isPublicAddress(address)) {
    this.#resolveAll = resolveAll;
    this.#isBlocked = isBlocked;
  }

  /** @throws FetchFailure for everything that is neither a usable body nor 304. */
  async fetch(wanted: FetchRequest): Promise<FetchReply> {
    const agent = wanted.proxy === undefined ? this.#agent(wanted) : proxied(wanted.proxy, wanted.timeoutMs);
    try {
      return await this.#follow(wanted, agent, AbortSignal.timeout(wanted.timeoutMs));
    } catch (error) {
      throw toFetchFailure(error, wanted.timeoutMs);
    } finally {
      // Connections are for one fetch only; what is still open has nothing more to say.
      agent.destroy().catch(() => undefined);
    }
  }

  async #follow(wanted: FetchRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<FetchReply> {
    let url = parseUrl(wanted.url);
    let credentials = basicCredentials(url);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      // The proxy is asked for this address; the host field keeps the name, and TLS takes its name from that field.
      const target = withoutCredentials(url);
      const headers = { ...requestHeaders(wanted, credentials), host: url.host };
      if (wanted.proxy !== undefined && !wanted.allowPrivate) target.hostname = await this.#checkTarget(url, signal);
      const reply = await request(target, { dispatcher, signal, method: 'GET', headers });
      const location = redirectTarget(reply, url);
      if (!location) return await readReply(reply, wanted.maxBytes);
      discard(reply.body);
      if (location.origin !== url.origin) credentials = null;
      credentials = basicCredentials(location) ?? credentials;
      url = location;
    }
    throw new FetchFailure('too_many_redirects', `The address redirects more than ${MAX_REDIRECTS} times.`);
  }

  /**
   * What the proxy is to connect to: of a name the address that was judged here, since a name could have another answer
   * for the proxy. A name that this machine cannot resolve is left to it.
   */
  async #checkTarget({ hostname }: URL, signal: AbortSignal): Promise<string> {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) {
      if (this.#isBlocked(host)) throw blocked(host);
      return hostname;
    }
    const { promise, resolve } = Promise.withResolvers<LookupAddress[]>();
    this.#resolveAll(host, { all: true }, (error, addresses) => resolve(error ? [] : addresses));
    signal.addEventListener('abort', () => resolve([]), { once: true });
    const addresses = await promise;
    if (addresses.some(({ address }) => this.#isBlocked(address))) throw blocked(host);
    // Nodes without IPv6 are more common than servers without IPv4.
    const chosen = addresses.find(({ address }) => isIP(address) === 4) ?? addresses[0];
    if (chosen === undefined) return hostname;
    return isIP(chosen.address) === 6 ? `[${chosen.address}]` : chosen.address;
  }

  #agent({ allowPrivate, timeoutMs }: FetchRequest): Agent {
    const checkedLookup = allowPrivate ? this.#resolve() : this.#checkedLookup();
    const connect = buildConnector({ timeout: timeoutMs, lookup: checkedLookup });
    return new Agent({
      connections: 1,
      pipelining: 1,
      bodyTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (options, done) => {
        // An address literal never reaches `lookup`.
        const host = options.hostname.replace(/^\[|\]$/g, '');
        if (!allowPrivate && isIP(host) !== 0 && this.#isBlocked(host)) return done(blocked(host), null);
        connect(options, done);
      },
    });
  }

  #resolve(): LookupFunction {
    return (host, options, done) =>
      this.#resolveAll(host, { ...options, all: true }, (error, addresses) => {
        if (error) return done(error, []);
        const first = addresses[0];
        if (!first) return done(new Error(`${host} has no address`), []);
        return options.all ? done(null, addresses) : done(null, first.address, first.family);
      });
  }

  #checkedLookup(): LookupFunction {
    const resolve = this.#resolve();
    return (host, options, done) =>
      resolve(host, { ...options, all: true }, (error, addresses) => {
        if (error) return done(error, []);
        const all = addresses as LookupAddress[];
        // One bad address condemns the name: an honest one does not mix them.
        if (all.some(({ address }) => this.#isBlocked(address))) return done(blocked(host), []);
        return options.all ? done(null, all) : done(null, all[0]!.address, all[0]!.family);
      });
  }
}

function proxied(proxy: string, timeoutMs: number): Dispatcher {
  return new ProxyAgent({
    uri: proxy,
    // CONNECT for http too: what a plain proxy request carries would be in the kernel's hands to rewrite.
    proxyTunnel: true,
    connections: 1,
    pipelining: 1,
    connectTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

/** Leaves the rest of a body unread; what it still has to say, its being cut off included, interests nobody. */
function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

function blocked(host: string): FetchFailure {
  return new FetchFailure(
    'blocked_address',
    `${host} is a private or reserved address; set allow_private on the subscription to fetch it all the same.`,
  );
}

function parseUrl(text: string, from?: URL): URL {
  const url = URL.parse(text, from?.href);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new FetchFailure('network_error', 'The address is not an http or https URL.');
  }
  return url;
}

function basicCredentials(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  const pair = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** A URL may hold a `%` that encodes nothing; it stands for itself then. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  bare.hash = '';
  return bare;
}

function requestHeaders(wanted: FetchRequest, credentials: string | null): Record<string, string> {
  return {
    'user-agent': wanted.userAgent,
    accept: '*/*',
    'accept-encoding': 'gzip, deflate, br, zstd',
    ...(wanted.etag === null ? {} : { 'if-none-match': wanted.etag }),
    ...(wanted.lastModified === null ? {} : { 'if-modified-since': wanted.lastModified }),
    ...(credentials === null ? {} : { authorization: credentials }),
  };
}

function redirectTarget(reply: Dispatcher.ResponseData, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(reply.statusCode)) return null;
  const location = flatten(reply.headers)['location'];
  return location === undefined ? null : parseUrl(location, from);
}

function flatten(headers: Dispatcher.ResponseData['headers']): ReplyHeaders {
  const flat: ReplyHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined) flat[name.toLowerCase()] = text;
  }
  return flat;
}

async function readReply(reply: Dispatcher.ResponseData, maxBytes: number): Promise<FetchReply> {
  const { statusCode: httpStatus, body } = reply;
  const headers = flatten(reply.headers);
  if (httpStatus === 304) {
    discard(body);
    return { kind: 'not_modified', httpStatus, headers };
  }
  if (httpStatus < 200 || httpStatus > 299) {
    discard(body);
    const retryAfterMs = retryAfter(headers['retry-after']);
    throw new FetchFailure('http_status', `The provider answered ${httpStatus}.`, { httpStatus, retryAfterMs });
  }
  try {
    const { content, receivedBytes } = await readBounded(body, headers['content-encoding'] ?? '', maxBytes);
    return { kind: 'content', httpStatus, headers, content, receivedBytes, whole: tellsItsEnd(headers) };
  } catch (error) {
    discard(body);
    if (!(error instanceof FetchFailure)) throw error;
    throw new FetchFailure(error.reason, error.message, { cause: error.cause, httpStatus });
  }
}

/** Without any of these a body ends where the connection does (RFC 9112, 6.3), for whatever reason that was. */
function tellsItsEnd(headers: ReplyHeaders): boolean {
  const coding = headers['content-encoding'] ?? 'identity';
  return 'content-length' in headers || 'transfer-encoding' in headers || !/^(?:identity)?$/i.test(coding);
}

/** Seconds or a date (RFC 9110, 10.2.3), as milliseconds from now. */
function retryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

/** Timeouts of any layer read as one; the rest is told by its code, never by a message that may hold the URL. */
function toFetchFailure(error: unknown, timeoutMs: number): FetchFailure {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof FetchFailure) return cause;
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    if (cause.name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code)) {
      return new FetchFailure('timeout', `The provider did not answer within ${timeoutMs} ms.`, { cause: error });
    }
  }
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return new FetchFailure('network_error', `The provider cannot be reached or broke the connection${code}.`, {
    cause: error,
  });
}
