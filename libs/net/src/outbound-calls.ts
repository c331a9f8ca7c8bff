import { Agent as HttpAgent, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { requestHttp, requestHttps } from './guarded-sockets.js';
import { ForbiddenTargetError, OutboundGuard, type OutboundGuardOptions } from './outbound-guard.js';
import { readAtMost } from './read-at-most.js';

export interface OutboundRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** May reach the service's own network, and do without TLS. */
  allowPrivate: boolean;
  /** Longest body that is read. Default 64 KiB. */
  maxBytes?: number;
  /** The client that the call is for; absent: only the limit for all calls applies. */
  forClient?: number;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  /** Null: too long. */
  body: Buffer | null;
}

export interface OutboundCallOptions extends Pick<OutboundGuardOptions, 'permits' | 'resolve'> {
  plainHosts?: readonly string[] | undefined;
  timeoutMs: number;
}

const MAX_BODY = 64 * 1024;
const MAX_AT_ONCE = 1024;
/** Limit per client: if its services do not answer, other clients are not affected. */
const MAX_FOR_CLIENT = 64;

/** Why a call had no answer. The message is for whoever gave the address: it says nothing about the service's network. */
export class OutboundCallError extends Error {
  override readonly name = 'OutboundCallError';

  readonly code: 'connection' | 'timeout' | 'overloaded';

  constructor(code: OutboundCallError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Sends requests to services that others named. Addresses are checked when connecting. */
export class OutboundCalls {
  private readonly options: OutboundCallOptions;
  /** Connections that may reach everything are kept apart from the others. */
  private readonly open: Way;
  private readonly guarded: Way;
  private running = 0;
  /** Keyed by client. */
  private readonly runningFor = new Map<number, number>();

  constructor(options: OutboundCallOptions) {
    this.options = options;
    const { permits, resolve } = options;
    this.open = { guard: new OutboundGuard({ resolve, allowPrivate: true }), ...agents() };
    this.guarded = { guard: new OutboundGuard({ resolve, permits }), ...agents() };
  }

  /** Redirects are returned as answers. @throws OutboundCallError */
  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const url = this.permitted(request);
    const release = this.take(request.forClient);
    const signal = AbortSignal.timeout(this.options.timeoutMs);
    try {
      return await this.perform(url, request, signal);
    } catch (error) {
      if (error instanceof OutboundCallError) throw error;
      const code = signal.aborted ? 'timeout' : 'connection';
      throw new OutboundCallError(code, `${url.host} could not be asked`, { cause: error });
    } finally {
      release();
    }
  }

  close(): void {
    for (const { http, https } of [this.open, this.guarded]) {
      http.destroy();
      https.destroy();
    }
  }

  /** Reserves a slot for a call; returns the function that frees it. */
  private take(client: number | undefined): () => void {
    const { runningFor } = this;
    const own = client === undefined ? 0 : (runningFor.get(client) ?? 0);
    if (own >= MAX_FOR_CLIENT || this.running >= MAX_AT_ONCE) {
      throw new OutboundCallError('overloaded', 'too many calls wait for an answer');
    }
    this.running += 1;
    if (client !== undefined) runningFor.set(client, own + 1);
    return () => {
      this.running -= 1;
      if (client === undefined) return;
      const left = (runningFor.get(client) ?? 0) - 1;
      if (left > 0) runningFor.set(client, left);
      else runningFor.delete(client);
    };
  }

  private permitted({ url: text, allowPrivate }: OutboundRequest): URL {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) throw new OutboundCallError('connection', 'no address to ask at');
    const plain = allowPrivate || (this.options.plainHosts?.includes(url.hostname.replace(/^\[|\]$/g, '')) ?? false);
    if (url.protocol === 'http:' && !plain)
      throw new OutboundCallError('connection', `${url.host} is not asked without TLS`);
    try {
      this.way(allowPrivate).guard.checkHost(url.hostname);
    } catch (error) {
      if (!(error instanceof ForbiddenTargetError)) throw error;
      throw new OutboundCallError('connection', `${error.host} is not to be reached`, { cause: error });
    }
    return url;
  }

  private way(allowPrivate: boolean): Way {
    return allowPrivate ? this.open : this.guarded;
  }

  private perform(url: URL, request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { method, headers, body, allowPrivate, maxBytes = MAX_BODY } = request;
    const secure = url.protocol === 'https:';
    const { guard, http, https } = this.way(allowPrivate);
    const options: RequestOptions = {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
      signal,
      agent: secure ? https : http,
      lookup: guard.lookup,
    };
    return new Promise((resolve, reject) => {
      const sent = secure ? requestHttps(url, options) : requestHttp(url, options);
      sent.on('error', reject);
      let answered = false;
      sent.on('response', (answer) => {
        answered = true;
        const { statusCode: status = 0, headers } = answer;
        readAtMost(answer, maxBytes).then((content) => resolve({ status, headers, body: content }), reject);
      });
      // No upgrade was requested.
      sent.on('upgrade', (_answer, socket) => {
        socket.destroy();
        reject(new Error('the answer is 101'));
      });
      // A request always closes or times out: until then the call keeps its slot.
      sent.on('close', () => {
        if (!answered) reject(new Error('there was no answer'));
      });
      signal.addEventListener('abort', () => {
        sent.destroy();
        reject(new Error('there was no answer in time'));
      });
      sent.end(body);
    });
  }
}

interface Way {
  guard: OutboundGuard;
  http: HttpAgent;
  https: HttpsAgent;
}

function agents(): Omit<Way, 'guard'> {
  const options = { keepAlive: true, maxFreeSockets: 16, timeout: 30_000 };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}
