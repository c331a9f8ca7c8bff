import type { Readable } from 'node:stream';
import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { HostConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { Admitted } from '../modes/admission.js';
import type { ModeContext } from '../modes/mode.js';
import { badRequestAnswer, misdirectedAnswer, noHostAnswer, redirectAnswer, refusalAnswer } from './answers.js';
import { Exchange, type Allowed } from './exchange.js';
import { HostRouter } from './host-router.js';
import type { Reply } from './reply.js';
import { RequestBody } from './request-body.js';
import { asHeaders } from './request-fields.js';
import { readRequest, type RawRequest, type RequestHead } from './request-rules.js';
import type { UpstreamTable } from './upstreams.js';
import { readWhole } from './visitor-body.js';
import { originOf, type Arrival, type TrustedProxies, type VisitorOrigin } from './visitor-origin.js';

const CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** Paths of the gateway itself. */
const OWN_PREFIX = '/__gw/';
/** In `r`, and at the beginning of `state` when a browser comes back from an authorization server. */
const OWN_HOST = /[?&](?:r|state)=(\d{1,15})(?:[.&]|$)/;

/** A request as a listener of either version hands it over. */
export interface IncomingRequest {
  raw: RawRequest;
  arrival: Arrival;
  /** Whether the certificate that this connection was opened with is good for `host`. True without TLS. */
  covers: (host: string) => boolean;
  /** Null where the parser says that there is none. */
  body: Readable | null;
  reply: Reply;
}

export interface FrontDoorOptions {
  context: Pick<ModeContext, 'ledger' | 'admission' | 'verifier' | 'logger'>;
  upstreams: UpstreamTable;
  proxies: TrustedProxies;
  /** How long a visitor may take nothing of an answer, milliseconds. */
  stallMs: number;
  /** Answer to a challenge of ACME's HTTP-01 (RFC 8555 8.3); null: there is none. */
  acmeChallenge(token: string): string | null;
  /** Whether a name is one of this process: connections for others are to be made anew. */
  serves(name: string): boolean;
  /** The port that redirects to https name; null: the standard one. */
  httpsPort(): number | null;
}

/** A request that was read, found a host, and whose visitor is known. */
interface Arrived {
  head: RequestHead;
  host: HostConfig;
  origin: VisitorOrigin;
  accept: string | undefined;
  incoming: IncomingRequest;
}

/** What happens to every request of every visitor, whatever version of HTTP it speaks. */
export class FrontDoor {
  private readonly options: FrontDoorOptions;
  private router = new HostRouter([]);

  constructor(options: FrontDoorOptions) {
    this.options = options;
  }

  /** From the next request on. */
  apply(hosts: readonly HostConfig[]): void {
    this.router = new HostRouter(hosts);
    this.options.upstreams.apply(hosts);
  }

  receive(incoming: IncomingRequest): void {
    const { raw, arrival, reply } = incoming;
    const head = readRequest(raw);
    if ('status' in head) {
      reply.close();
      return send(reply, raw.method, badRequestAnswer(head.status, head.error));
    }
    const accept = fieldOf(head, 'accept');
    const challenge = this.challengeAnswer(head);
    if (challenge) return send(reply, raw.method, challenge);
    const origin = originOf(head, arrival, this.options.proxies);
    const found = this.route(incoming, head, origin, accept);
    if ('status' in found) return send(reply, raw.method, found);
    this.admit({ head, host: found, origin, accept, incoming });
  }

  private route(
    { covers, reply }: IncomingRequest,
    head: RequestHead,
    { scheme }: VisitorOrigin,
    accept: string | undefined,
  ): HostConfig | GatewayAnswer {
    if (!this.options.serves(head.host)) {
      reply.close();
      return misdirectedAnswer(accept);
    }
    const host = this.hostFor(head, scheme);
    if (!covers(head.host)) return misdirectedAnswer(accept);
    if (!host) return noHostAnswer(accept);
    if (head.target.ambiguous && this.router.dependsOnPath(head.host)) {
      reply.close();
      return badRequestAnswer(400, 'target', accept);
    }
    if (host.redirectToHttps && scheme === 'http') return redirectAnswer(this.secureLocation(head));
    return host;
  }

  /** The gateway's own paths are outside of locations: they say for which host they are. */
  private hostFor(
    { host, target: { path, forward } }: RequestHead,
    scheme: VisitorOrigin['scheme'],
  ): HostConfig | null {
    const named = path.startsWith(OWN_PREFIX) ? OWN_HOST.exec(forward)?.[1] : undefined;
    const own = named === undefined ? null : this.router.byId(host, Number(named), scheme);
    return own ?? this.router.match(host, path, scheme);
  }

  private secureLocation({ host, target }: RequestHead): string {
    const port = this.options.httpsPort();
    return `https://${host}${port === null || port === 443 ? '' : `:${port}`}${target.forward}`;
  }

  private challengeAnswer({ method, target: { path } }: RequestHead): GatewayAnswer | null {
    if (!path.startsWith(CHALLENGE_PREFIX) || (method !== 'GET' && method !== 'HEAD')) return null;
    const token = path.slice(CHALLENGE_PREFIX.length);
    const body = /^[A-Za-z0-9_-]{1,256}$/.test(token) ? this.options.acmeChallenge(token) : null;
    return body === null ? null : { status: 200, headers: [['content-type', 'application/octet-stream']], body };
  }

  private admit(arrived: Arrived): void {
    const { head, host, origin, accept, incoming } = arrived;
    const { admission, ledger, verifier } = this.options.context;
    const resource = { kind: 'host', id: host.id } as const;
    const admitted = admission.admit(resource, host.clientId, origin.visitor);
    if (typeof admitted === 'string') return send(incoming.reply, head.method, refusalAnswer(admitted, accept));
    const flow = ledger.open(resource, host.clientId, origin.visitor);
    flow.counter.upload += head.bytes;
    const exchange = new Exchange({
      head,
      host,
      accept,
      forwarded: origin.forwarded,
      reply: incoming.reply,
      flow,
      admitted,
      stallMs: this.options.stallMs,
      onEnd: (reason) => {
        admitted.release();
        ledger.close(flow, { reason });
      },
    });
    const onBytes = (count: number): void => {
      flow.counter.upload += count;
    };
    if (verifier.guards(resource, host.clientId)) {
      void this.verify(arrived, exchange, admitted, onBytes);
    } else this.proceed(arrived, exchange, { admitted, onBytes, verdict: null, whole: null });
  }

  private async verify(
    arrived: Arrived,
    exchange: Exchange,
    admitted: Admitted,
    onBytes: (count: number) => void,
  ): Promise<void> {
    const read: { whole: Buffer | null } = { whole: null };
    try {
      const verdict = await this.options.context.verifier.verify(
        this.visitorRequest(arrived, admitted, async (maxBytes) => {
          const { body, reply } = arrived.incoming;
          if (body && arrived.head.fields.expect !== null) reply.inform(100, []);
          return (read.whole ??= body ? await readWhole(body, maxBytes, onBytes) : Buffer.alloc(0));
        }),
      );
      if (verdict.allowed) this.proceed(arrived, exchange, { admitted, onBytes, verdict, whole: read.whole });
      else exchange.answer(verdict.answer);
    } catch (error) {
      if (!(error instanceof TunnelError)) {
        const message = error instanceof Error ? error.message : String(error);
        this.options.context.logger.error('a visitor could not be verified', { host: arrived.host.id, error: message });
      }
      const tooLong = error instanceof TunnelError && error.code === 'overloaded';
      exchange.answer({ status: tooLong ? 413 : 503, headers: [['x-gw-error', 'verification']], body: '' });
    }
  }

  private visitorRequest(
    { head, origin, incoming }: Arrived,
    { resource, clientId }: Admitted,
    readBody: VisitorRequest['readBody'],
  ): VisitorRequest {
    return {
      resource,
      clientId,
      visitor: origin.visitor,
      scheme: origin.scheme,
      method: head.method,
      host: head.host,
      target: incoming.raw.target.startsWith('/') ? incoming.raw.target : head.target.forward,
      headers: { ...asHeaders(head.fields.kept), host: head.authority },
      readBody,
    };
  }

  private proceed(
    arrived: Arrived,
    exchange: Exchange,
    more: { admitted: Admitted; onBytes: (count: number) => void; verdict: Allowed | null; whole: Buffer | null },
  ): void {
    const { head, host, accept, incoming } = arrived;
    const { path } = head.target;
    if (path.startsWith(OWN_PREFIX) || path === '/__gw') return exchange.answer(noHostAnswer(accept));
    const { admitted, onBytes, verdict, whole } = more;
    const source = incoming.body;
    const body =
      whole ??
      (source &&
        new RequestBody(source, {
          onStart: () => {
            if (head.fields.expect !== null) incoming.reply.inform(100, []);
          },
          meter: (count, resume) => {
            onBytes(count);
            return admitted.throttle()?.pass(count, resume) ?? true;
          },
        }));
    exchange.start(this.options.upstreams.of(host), body, verdict);
  }
}

function fieldOf({ fields }: RequestHead, name: string): string | undefined {
  const { kept } = fields;
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const field = kept[at] ?? '';
    if (field.length === name.length && field.toLowerCase() === name) return kept[at + 1];
  }
  return undefined;
}

/** For who is not let in: nothing is counted. */
function send(reply: Reply, method: string, { status, headers, body }: GatewayAnswer): void {
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const fields = headers.flat();
  if (!headers.some(([name]) => name === 'content-length')) fields.push('content-length', String(content.length));
  const bodyless = method === 'HEAD';
  reply.begin({ status, statusText: '', fields, bodyless, trailer: null });
  if (content.length > 0 && !bodyless) reply.write(content);
  reply.end([]);
}
