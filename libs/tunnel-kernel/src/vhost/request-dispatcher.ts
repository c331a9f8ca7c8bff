import type { Asked } from '../access/request-condition.js';
import type { TrustedProxies } from '../access/trusted-proxies.js';
import type { GatewayAnswer } from '../access/visitor-verifier.js';
import type { HostConfig } from '../config.js';
import type { ModeContext } from '../modes/mode.js';
import {
  badRequestAnswer,
  misdirectedAnswer,
  noHostAnswer,
  readerAt,
  redirectAnswer,
  refusalAnswer,
} from './answers.js';
import { HostRouter } from './host-router.js';
import { HostVisit, OWN_PREFIX, type HostVisitContext } from './host-visit.js';
import type { HostRequest, IncomingRequest } from './incoming-request.js';
import type { RequestRecord } from '../recording/request-record.js';
import { incomingReplay, type ReplayRefusal, type ReplayRequest } from './replay.js';
import { replyOf, type Reply } from './reply.js';
import { withholdCookies } from './request-fields.js';
import { logTo } from './request-log.js';
import { readRequest, type RequestHead } from './request-rules.js';
import { passesTls } from './tls-passthrough.js';
import { originOf, type VisitorOrigin } from './visitor-origin.js';

const CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** The host's id in `r`, or at the beginning of `state` when a browser returns from an authorization server. */
const OWN_HOST = /[?&](?:r|state)=(\d{1,15})(?:[.&]|$)/;

export interface RequestDispatcherOptions extends HostVisitContext {
  context: HostVisitContext['context'] & Pick<ModeContext, 'admission' | 'now'>;
  proxies: TrustedProxies;
  /** Answers a challenge of ACME's HTTP-01 (RFC 8555 8.3); null: there is none. */
  acmeChallenge(token: string): string | null;
  /** Whether this process serves a name: requests for others need a new connection. */
  serves(name: string): boolean;
  /** Cookies that neither targets nor verification callbacks may see. */
  withheldCookies: readonly string[];
  /** The port for redirects to https; null: the standard one. */
  httpsPort(): number | null;
}

/** Handles every request of every visitor, whichever version of HTTP it uses. */
export class RequestDispatcher {
  private readonly options: RequestDispatcherOptions;
  private router = new HostRouter([]);

  constructor(options: RequestDispatcherOptions) {
    this.options = options;
  }

  /** Applies to the next request. */
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
    withholdCookies(head.fields, this.options.withheldCookies);
    const challenge = this.challengeAnswer(head);
    const origin = originOf(head, arrival, this.options.proxies);
    if (challenge) return this.answer(reply, head, origin, challenge);
    const found = this.route(incoming, head, origin);
    if ('status' in found) return this.answer(reply, head, origin, found);
    this.admit({ head, host: found, origin, incoming });
  }

  /** Sends a recorded request again, to the same host; returns its own record. */
  replay(host: HostConfig, request: ReplayRequest): RequestRecord | ReplayRefusal {
    if (!host.record) return 'unrecorded';
    const incoming = incomingReplay(request);
    const head = readRequest(incoming.raw);
    if ('status' in head) return dropped(incoming, 'unreadable');
    withholdCookies(head.fields, this.options.withheldCookies);
    const origin = originOf(head, incoming.arrival, this.options.proxies);
    const resource = { kind: 'host', id: host.id } as const;
    const admitted = this.options.context.admission.admit(resource, host.clientId, origin.visitor, askedOf(head));
    if (typeof admitted === 'string') return dropped(incoming, 'refused');
    const visit = new HostVisit(this.options, { head, host, origin, incoming }, admitted);
    visit.start();
    return visit.record ?? 'unrecorded';
  }

  private route(
    { covers, reply }: IncomingRequest,
    head: RequestHead,
    { scheme }: VisitorOrigin,
  ): HostConfig | GatewayAnswer {
    if (!this.options.serves(head.host)) {
      reply.close();
      return misdirectedAnswer(head);
    }
    const host = this.hostFor(head, scheme);
    if (!covers(head.host)) return misdirectedAnswer(head);
    if (!host) return noHostAnswer(head);
    if (passesTls(host)) {
      // Came under another name of this gateway's certificates: a new connection leads to the target.
      reply.close();
      return misdirectedAnswer(head);
    }
    if (this.isMisleading(head)) {
      reply.close();
      return badRequestAnswer(400, 'target', head);
    }
    if (host.redirectToHttps && scheme === 'http') return redirectAnswer(this.secureLocation(head));
    return host;
  }

  /** Whether a target could read the path as one of another location. */
  private isMisleading({ host, target: { ambiguous, path } }: RequestHead): boolean {
    return (ambiguous && this.router.dependsOnPath(host)) || this.router.evades(host, path);
  }

  /** The gateway's own paths are outside of locations: they name their host themselves. */
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

  /** Answers a visitor that was not admitted: nothing is counted. */
  private answer(reply: Reply, head: RequestHead, origin: VisitorOrigin, answer: GatewayAnswer): void {
    const { log, context } = this.options;
    send(reply, head.method, answer);
    if (!log) return;
    const bytes = head.method === 'HEAD' ? 0 : Buffer.byteLength(answer.body);
    logTo(log, head, { startedAt: context.now(), visitor: origin.visitor.address, status: answer.status, bytes });
  }

  private admit(request: HostRequest): void {
    const { head, host, origin, incoming } = request;
    const resource = { kind: 'host', id: host.id } as const;
    const admitted = this.options.context.admission.admit(resource, host.clientId, origin.visitor, askedOf(head));
    if (typeof admitted === 'string')
      this.answer(incoming.reply, head, origin, refusalAnswer(admitted, readerAt(host, head)));
    else new HostVisit(this.options, request, admitted).start();
  }
}

/** Targets never see the gateway's own paths, and a visitor that may sign in must reach them. */
function askedOf(head: RequestHead): Asked {
  return head.target.path.startsWith(OWN_PREFIX) ? 'own' : head;
}

/** Nobody waits for an answer to a request that is not sent again. */
function dropped({ reply }: IncomingRequest, refusal: ReplayRefusal): ReplayRefusal {
  reply.abort();
  return refusal;
}

/** Sends an answer to a visitor that was not admitted: nothing is counted. */
function send(reply: Reply, method: string, answer: GatewayAnswer): void {
  const { head, content } = replyOf(answer, method);
  reply.begin(head);
  if (content) reply.write(content);
  reply.end([]);
}
