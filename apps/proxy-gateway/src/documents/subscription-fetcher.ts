import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { ForbiddenTargetError, OutboundGuard, type OutboundGuardOptions } from '@gatehouse/net';
import { traceOutgoing } from '@gatehouse/platform';
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
  /** Also allow private, loopback and link-local addresses. */
  allowPrivate: boolean;
  etag: string | null;
  lastModified: string | null;
  /** A proxy to go through; absent: connect to the provider directly. */
  proxy?: FetchProxy;
}

export interface FetchProxy {
  /** `http://[user:password@]host:port` */
  url: string;
  /** Whether the proxy itself refuses private addresses when asked to. */
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
      /** Whether a truncated reply would have been noticed, by its length, its chunks or its compression. */
      whole: boolean;
    };

const MAX_REDIRECTS = 5;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Fetches subscriptions. The check for private addresses is made on the address that DNS returned for this very
 * connection, and again at every redirect, so a name whose answer changes between two lookups gains nothing.
 */
export class SubscriptionFetcher {
  readonly #guarded: OutboundGuard;
  readonly #open: OutboundGuard;

  constructor(options: Pick<OutboundGuardOptions, 'resolve' | 'permits'> = {}) {
    this.#guarded = new OutboundGuard(options);
    this.#open = new OutboundGuard({ ...options, allowPrivate: true });
  }

  /** @throws FetchFailure for everything except a usable body and 304. */
  async fetch(wanted: FetchRequest): Promise<FetchReply> {
    const agent = wanted.proxy === undefined ? this.#agent(wanted) : proxied(wanted, wanted.proxy);
    try {
      return await this.#follow(wanted, agent, AbortSignal.timeout(wanted.timeoutMs));
    } catch (error) {
      throw toFetchFailure(error, wanted.timeoutMs);
    } finally {
      // Each fetch has its own connections; whatever is still open is not needed.
      agent.destroy().catch(() => undefined);
    }
  }

  async #follow(wanted: FetchRequest, dispatcher: Dispatcher, signal: AbortSignal): Promise<FetchReply> {
    let url = parseUrl(wanted.url);
    let credentials = basicCredentials(url);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      // The proxy is asked for this address. The Host field keeps the name, and TLS takes its server name from there.
      const target = withoutCredentials(url);
      const headers = { ...requestHeaders(wanted, credentials), host: url.host };
      if (!wanted.allowPrivate) target.hostname = await this.#checkTarget(url, wanted.proxy, signal);
      const from = url;
      const got = await traceOutgoing('GET', from, async (answered) => {
        const reply = await request(target, { dispatcher, signal, method: 'GET', headers });
        answered(reply.statusCode);
        const location = redirectTarget(reply, from);
        if (location === null) return await readReply(reply, wanted.maxBytes);
        discard(reply.body);
        return location;
      });
      if (!(got instanceof URL)) return got;
      const location = got;
      if (location.origin !== url.origin) credentials = null;
      credentials = basicCredentials(location) ?? credentials;
      url = location;
    }
    throw new FetchFailure('too_many_redirects', `The address redirects more than ${MAX_REDIRECTS} times.`);
  }

  /**
   * Refuses what can be refused before dialling, and returns what the proxy should connect to. For a name that is the
   * address checked here, since the proxy could get another answer. A name that this machine cannot resolve is left to
   * a proxy that checks the addresses it dials.
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

  /** Empty if the name cannot be resolved in time. @throws ForbiddenTargetError */
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
    // CONNECT for http too: the kernel could rewrite the headers of a plain proxy request.
    proxyTunnel: true,
    connections: 1,
    pipelining: 1,
    connectTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
}

/** Stops reading the rest of a body and ignores its errors, including a broken connection. */
function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

function blocked(host: string): FetchFailure {
  return new FetchFailure(
    'blocked_address',
    `${host} is a private or reserved address; allow private addresses on the subscription (allow_private) to fetch it anyway.`,
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

/** A URL may contain a `%` that encodes nothing; it is kept as it is. */
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
    return { kind: 'content', httpStatus, headers, content, receivedBytes, whole: hasKnownEnd(headers) };
  } catch (error) {
    discard(body);
    if (!(error instanceof FetchFailure)) throw error;
    throw new FetchFailure(error.reason, error.message, { cause: error.cause, httpStatus });
  }
}

/** Without any of these headers a body ends when the connection closes (RFC 9112, 6.3), whatever the reason. */
function hasKnownEnd(headers: ReplyHeaders): boolean {
  const coding = headers['content-encoding'] ?? 'identity';
  return 'content-length' in headers || 'transfer-encoding' in headers || !/^(?:identity)?$/i.test(coding);
}

/** Seconds or a date (RFC 9110, 10.2.3), as milliseconds from now. */
function retryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

/**
 * Timeouts of all layers give one message. Other errors are reported by their code only, since a message may contain
 * the URL.
 */
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
