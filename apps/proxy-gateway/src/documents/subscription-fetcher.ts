import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { ForbiddenTargetError, OutboundGuard, type OutboundGuardOptions } from '@gatehouse/net';
import { PUBLIC_TARGETS_ONLY } from '@gatehouse/proxy-kernel';
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
  /** A proxy to go through; absent: straight to the provider. */
  proxy?: FetchProxy;
}

export interface FetchProxy {
  /** `http://[user:password@]host:port` */
  url: string;
  /** Whether it keeps itself from connecting to private addresses when it is asked to. */
  guardsTargets: boolean;
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

const MAX_REDIRECTS = 5;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Fetches subscriptions. Which address may be dialled is decided on the address that DNS gave for this very connection,
 * at every redirect anew: a name that answers differently the second time gains nothing.
 */
export class SubscriptionFetcher {
  readonly #guarded: OutboundGuard;
  readonly #open: OutboundGuard;

  constructor(options: Pick<OutboundGuardOptions, 'resolve' | 'permits'> = {}) {
    this.#guarded = new OutboundGuard(options);
    this.#open = new OutboundGuard({ ...options, allowPrivate: true });
  }

  /** @throws FetchFailure for everything that is neither a usable body nor 304. */
  async fetch(wanted: FetchRequest): Promise<FetchReply> {
    const agent = wanted.proxy === undefined ? this.#agent(wanted) : proxied(wanted, wanted.proxy);
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
      if (!wanted.allowPrivate) target.hostname = await this.#checkTarget(url, wanted.proxy, signal);
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
   * Refuses what can be refused before anything is dialled, and says what a proxy is to connect to: of a name the address
   * that was judged here, since a name could have another answer for the proxy. A name that this machine cannot resolve is
   * left to a proxy that judges what it dials itself.
   */
  async #checkTarget({ hostname }: URL, proxy: FetchProxy | undefined, signal: AbortSignal): Promise<string> {
    this.#guarded.checkHost(hostname);
    if (proxy === undefined || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return hostname;
    const addresses = await this.#addressesOf(hostname, signal);
    // Nodes without IPv6 are more common than servers without IPv4.
    const chosen = addresses.find(({ family }) => family === 4) ?? addresses[0];
    if (chosen !== undefined) return chosen.family === 6 ? `[${chosen.address}]` : chosen.address;
    if (proxy.guardsTargets) return hostname;
    throw new FetchFailure('network_error', 'The name of the provider cannot be resolved.');
  }

  /** None where the name cannot be resolved in time. @throws ForbiddenTargetError */
  #addressesOf(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
    signal.addEventListener('abort', () => resolve([]), { once: true });
    this.#guarded.addressesOf(hostname).then(resolve, (error: unknown) => {
      if (error instanceof ForbiddenTargetError) reject(error);
      else resolve([]);
    });
    return promise;
  }

  #agent({ allowPrivate, timeoutMs }: FetchRequest): Agent {
    const { lookup } = allowPrivate ? this.#open : this.#guarded;
    return new Agent({
      connections: 1,
      pipelining: 1,
      bodyTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: buildConnector({ timeout: timeoutMs, lookup }),
    });
  }
}

function proxied({ allowPrivate, timeoutMs }: FetchRequest, proxy: FetchProxy): Dispatcher {
  return new ProxyAgent({
    uri: proxy.url,
    headers: allowPrivate ? {} : PUBLIC_TARGETS_ONLY,
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
    `${host} is a private or reserved address; allow private addresses on the subscription (allow_private) to fetch it all the same.`,
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
    if (cause instanceof ForbiddenTargetError) return blocked(cause.host);
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
