import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { cidrContains, parseCidr, parseIp } from '@gatehouse/net';
import { PRIVATE_CIDRS } from '../access/ip-range.js';
import { TunnelError } from '../errors.js';

export interface OutboundRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** May lead into the gateway's own network, and go without TLS. */
  allowPrivate: boolean;
}

export interface OutboundAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  /** Null: longer than what is taken. */
  body: Buffer | null;
}

export interface OutboundOptions {
  permits?: ((address: string) => boolean) | undefined;
  resolve?: ((host: string) => Promise<LookupAddress[]>) | undefined;
  plainHosts?: readonly string[] | undefined;
  timeoutMs: number;
}

const MAX_BODY = 64 * 1024;
const MAX_AT_ONCE = 256;
/** Besides those that are somebody's own: nobody's, everybody's, and ways into IPv4. */
const RESERVED = [
  ...PRIVATE_CIDRS,
  ...[
    '0.0.0.0/8',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
  ].flatMap((text) => parseCidr(text) ?? []),
];
const GLOBAL_V6 = parseCidr('2000::/3');

/** Whether an address is in the Internet. */
export function isPublicAddress(address: string): boolean {
  const ip = parseIp(address);
  if (!ip || RESERVED.some((cidr) => cidrContains(cidr, ip))) return false;
  return ip.family === 4 || (GLOBAL_V6 !== null && cidrContains(GLOBAL_V6, ip));
}

/** @throws TunnelError `connection` for an answer that is no JSON object, or no success. */
export function readJsonObject({ status, body }: OutboundAnswer): Record<string, unknown> {
  if (status < 200 || status > 299 || body === null) throw new TunnelError('connection', `status ${status}`);
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new TunnelError('connection', 'the answer is no JSON object');
}

/** Asks others about visitors. Where a name leads is checked on the addresses that are dialled. */
export class OutboundCalls {
  private readonly options: OutboundOptions;
  /** Connections of those that may reach everything are not lent to the others. */
  private readonly agents = { open: agents(), guarded: agents() };
  private running = 0;

  constructor(options: OutboundOptions) {
    this.options = options;
  }

  /** Redirects are answers. @throws TunnelError `connection`, `timeout`, `overloaded` */
  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const url = this.permitted(request);
    if (this.running >= MAX_AT_ONCE) throw new TunnelError('overloaded', 'too many visitors are asked about');
    this.running += 1;
    const signal = AbortSignal.timeout(this.options.timeoutMs);
    try {
      return await this.perform(url, request, signal);
    } catch (error) {
      if (error instanceof TunnelError) throw error;
      const code = signal.aborted ? 'timeout' : 'connection';
      throw new TunnelError(code, `${url.host} could not be asked`, { cause: error });
    } finally {
      this.running -= 1;
    }
  }

  close(): void {
    for (const { http, https } of Object.values(this.agents)) {
      http.destroy();
      https.destroy();
    }
  }

  private permitted({ url: text, allowPrivate }: OutboundRequest): URL {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) throw new TunnelError('connection', 'no address to ask at');
    const host = bare(url.hostname);
    const plain = allowPrivate || (this.options.plainHosts?.includes(host) ?? false);
    if (url.protocol === 'http:' && !plain) throw new TunnelError('connection', `${url.host} is not asked without TLS`);
    // Addresses are dialled without a look-up.
    if (isIP(host) !== 0 && !this.permits(host, allowPrivate)) {
      throw new TunnelError('connection', `${host} is not to be reached`);
    }
    return url;
  }

  private permits(address: string, allowPrivate: boolean): boolean {
    return allowPrivate || (this.options.permits ?? isPublicAddress)(address);
  }

  private perform(url: URL, request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> {
    const { method, headers, body, allowPrivate } = request;
    const secure = url.protocol === 'https:';
    const { http, https } = allowPrivate ? this.agents.open : this.agents.guarded;
    const options: RequestOptions = {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
      signal,
      agent: secure ? https : http,
      lookup: this.lookup(allowPrivate),
    };
    return new Promise((resolve, reject) => {
      const sent = secure ? httpsRequest(url, options) : httpRequest(url, options);
      sent.on('error', reject);
      sent.on('response', (answer) => void readAnswer(answer).then(resolve, reject));
      sent.end(body);
    });
  }

  private lookup(allowPrivate: boolean): LookupFunction {
    const find = callbackify((host: string) => this.addressesOf(host, allowPrivate));
    return (host, options, callback) => {
      find(host, (error, all) => {
        const { family } = options;
        const fit = error ? [] : all.filter((found) => (family !== 4 && family !== 6) || found.family === family);
        const [first] = fit;
        if (!first) callback(error ?? refused(host), '', 0);
        else if (options.all) callback(null, fit);
        else callback(null, first.address, first.family);
      });
    };
  }

  private async addressesOf(host: string, allowPrivate: boolean): Promise<LookupAddress[]> {
    const { resolve = (name: string) => lookup(name, { all: true }) } = this.options;
    return (await resolve(host)).filter(({ address }) => this.permits(address, allowPrivate));
  }
}

function agents(): { http: HttpAgent; https: HttpsAgent } {
  const options = { keepAlive: true, maxFreeSockets: 16, timeout: 30_000 };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

function readAnswer(answer: IncomingMessage): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    const { statusCode: status = 0, headers } = answer;
    const parts: Buffer[] = [];
    let size = 0;
    answer.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= MAX_BODY) return void parts.push(part);
      resolve({ status, headers, body: null });
      answer.destroy();
    });
    answer.on('end', () => resolve({ status, headers, body: Buffer.concat(parts) }));
    answer.on('error', reject);
    answer.on('close', () => reject(new Error('the answer was cut')));
  });
}

function refused(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} is not to be reached`), { code: 'EACCES' });
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
