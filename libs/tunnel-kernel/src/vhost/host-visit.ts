import type { GatewayAnswer, Verdict, VisitorRequest } from '../access/visitor-verifier.js';
import type { HostRedirect } from '../config.js';
import { guardPromise, type RelayEndReason } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import type { Flow } from '../flow-ledger.js';
import type { Admitted } from '../modes/admission.js';
import type { ModeContext } from '../modes/mode.js';
import type { RecordLevel } from '../recording/recorded-request.js';
import type { RequestRecord } from '../recording/request-record.js';
import type { RequestRecorder } from '../recording/request-recorder.js';
import { bodyTooLargeAnswer, noHostAnswer, readerAt, unverifiedAnswer } from './answers.js';
import { Exchange, type Allowed, type ExchangeRequest } from './exchange.js';
import { hostRedirectAnswer } from './host-redirect.js';
import type { HostRequest } from './incoming-request.js';
import { rewritePath, type RewrittenPath } from './path-rewrite.js';
import { RequestBody } from './request-body.js';
import { logTo, type LogRequest } from './request-log.js';
import { asHeaders, firstField, without } from './request-fields.js';
import { takeStickyCookie } from './sticky-cookie.js';
import type { UpstreamTable } from './upstreams.js';
import { TRACE_FIELDS, type TraceVisit, type VisitTrace } from './visit-traces.js';
import { readWhole } from './visitor-body.js';

/** Paths of the gateway itself. */
export const OWN_PREFIX = '/__gw/';

export interface HostVisitContext {
  context: Pick<ModeContext, 'ledger' | 'verifier' | 'logger'>;
  upstreams: UpstreamTable;
  /** How long a visitor may stop reading an answer, in milliseconds. */
  stallMs: number;
  /** Undefined: visits are not observed. */
  trace: TraceVisit | undefined;
  /** Undefined: there is no log. */
  log: LogRequest | undefined;
  /** Keeps the requests of hosts whose owners want to see them. */
  recorder: RequestRecorder;
}

/** An admitted request on its way to the target: it is counted, and its visitor is verified if the host requires it. */
export class HostVisit {
  private readonly options: HostVisitContext;
  private readonly request: HostRequest;
  private readonly admitted: Admitted;
  private readonly flow: Flow;
  private readonly exchange: Exchange;
  /** Null: the owner does not want to see requests, or this one is over: then its record may be one of another request. */
  record: RequestRecord | null;
  /** The body, if verification had to read it. */
  private whole: Buffer | null = null;

  constructor(options: HostVisitContext, request: HostRequest, admitted: Admitted) {
    const { head, host, origin, incoming } = request;
    const { ledger } = options.context;
    const flow = ledger.open(admitted.resource, admitted.clientId, admitted.visitor, 1, admitted.asked);
    flow.counter.upload += head.bytes;
    this.options = options;
    this.request = request;
    this.admitted = admitted;
    this.flow = flow;
    this.record = host.record ? recordOf(options.recorder, host.record, request, flow) : null;
    const trace = options.trace ? traceOf(options.trace, request) : null;
    const { forward, prefix } = pathFor(request);
    const exchanged: ExchangeRequest = {
      head,
      host,
      forwarded:
        trace || prefix !== ''
          ? [...origin.forwarded, ...(trace?.fields ?? []), ...prefixField(prefix)]
          : origin.forwarded,
      path: forward,
      isSecure: origin.scheme === 'https',
      tag: host.sticky === true && host.targets.length > 1 ? takeStickyCookie(head.fields, host) : null,
      reply: incoming.reply,
      flow,
      admitted,
      stallMs: options.stallMs,
      record: this.record,
      onEnd: (reason) => {
        admitted.release();
        this.record?.end(flow.counter, isComplete(reason) ? null : reason);
        this.record = exchanged.record = null;
        if (options.log) this.writeLog(options.log);
        ledger.close(flow, { reason });
        trace?.end(this.exchange.status, isComplete(reason) ? null : reason);
      },
    };
    this.exchange = new Exchange(exchanged);
  }

  start(): void {
    const { resource, clientId } = this.admitted;
    // Whoever may repeat a request owns the host, and what proved who the visitor was has been masked.
    const isReplay = this.request.incoming.replayOf !== undefined;
    if (!isReplay && this.options.context.verifier.guards(resource, clientId))
      guardPromise({ destroy: () => this.exchange.stop() }, this.verify());
    else this.proceed(null);
  }

  private writeLog(log: LogRequest): void {
    const { head, origin } = this.request;
    const { status, sentHead } = this.exchange;
    const bytes = Math.max(0, this.flow.counter.download - sentHead);
    logTo(log, head, { startedAt: this.flow.startedAt, visitor: origin.visitor.address, status, bytes });
  }

  private async verify(): Promise<void> {
    try {
      const verdict: Verdict = await this.options.context.verifier.verify(this.visitorRequest());
      this.record?.verified();
      if (verdict.allowed) this.proceed(verdict);
      else this.exchange.answer(verdict.answer);
    } catch (error) {
      if (!(error instanceof TunnelError)) {
        const { host } = this.request;
        const message = error instanceof Error ? error.message : String(error);
        this.options.context.logger.error('a visitor could not be verified', { host: host.id, error: message });
      }
      const tooLong = error instanceof TunnelError && error.code === 'overloaded';
      this.exchange.answer(unverifiedAnswer(tooLong, readerAt(this.request.host, this.request.head)));
    }
  }

  private visitorRequest(): VisitorRequest {
    const { head, origin, incoming } = this.request;
    const { resource, clientId } = this.admitted;
    return {
      resource,
      clientId,
      visitor: origin.visitor,
      scheme: origin.scheme,
      method: head.method,
      host: head.host,
      target: incoming.raw.target.startsWith('/') ? incoming.raw.target : head.target.forward,
      headers: { ...asHeaders(head.fields.kept), host: head.authority },
      readBody: (maxBytes) => this.readBody(maxBytes),
    };
  }

  private async readBody(maxBytes: number): Promise<Buffer> {
    const { body } = this.request.incoming;
    if (body) this.askForBody();
    this.whole ??= body ? await readWhole(body, maxBytes, (count) => this.count(count)) : Buffer.alloc(0);
    return this.whole;
  }

  /** `verdict`: null without verification. */
  private proceed(verdict: Allowed | null): void {
    const { head, host, incoming } = this.request;
    const { path } = head.target;
    if (path.startsWith(OWN_PREFIX) || path === '/__gw') return this.exchange.answer(noHostAnswer(head));
    if (host.redirect) return this.exchange.answer(this.redirection(host.redirect));
    const { maxBodyBytes = Infinity } = host;
    const announced = this.whole?.length ?? Number(head.fields.contentLength ?? 0);
    if (announced > maxBodyBytes) return this.exchange.answer(bodyTooLargeAnswer(readerAt(host, head)));
    if (this.whole) this.record?.requestPart(this.whole);
    const body = this.whole ?? (incoming.body && new RequestBody(incoming.body, this.bodyOptions()));
    this.exchange.start(() => this.options.upstreams.of(host), body, verdict);
  }

  private redirection(redirect: HostRedirect): GatewayAnswer {
    const { head, host, origin } = this.request;
    const { forward: path } = pathFor(this.request);
    return hostRedirectAnswer(host, redirect, { scheme: origin.scheme, authority: head.authority, path });
  }

  private bodyOptions(): ConstructorParameters<typeof RequestBody>[1] {
    return {
      onStart: () => this.askForBody(),
      onPart: this.record ? (part) => this.record?.requestPart(part) : undefined,
      maxBytes: this.request.host.maxBodyBytes,
      meter: (count, resume) => {
        this.count(count);
        return this.admitted.throttle()?.pass(count, resume) ?? true;
      },
    };
  }

  /** Answers `Expect: 100-continue`. */
  private askForBody(): void {
    const { head, incoming } = this.request;
    if (head.fields.expect !== null) incoming.reply.inform(100, []);
  }

  private count(bytes: number): void {
    this.flow.counter.upload += bytes;
  }
}

function prefixField(prefix: string): string[] {
  return prefix === '' ? [] : ['X-Forwarded-Prefix', prefix];
}

function pathFor({ head, host }: HostRequest): RewrittenPath {
  const { forward } = head.target;
  return host.rewritePath === undefined
    ? { forward, prefix: '' }
    : rewritePath(forward, host.location, host.rewritePath);
}

/** The gateway's own paths carry passwords and codes of visitors: they are not recorded. */
function recordOf(
  recorder: RequestRecorder,
  level: RecordLevel,
  { head, host, origin, incoming }: HostRequest,
  { startedAt }: Flow,
): RequestRecord | null {
  if (head.target.path.startsWith(OWN_PREFIX)) return null;
  return recorder.begin({
    hostId: host.id,
    level,
    startedAt,
    method: head.method,
    scheme: origin.scheme,
    authority: head.authority,
    target: head.target.forward,
    version: head.version,
    visitor: origin.visitor.address,
    fields: incoming.raw.fields,
    headBytes: head.bytes,
    replayOf: incoming.replayOf ?? null,
  });
}

/** The trace goes on at the target: its fields replace those of the visitor. */
function traceOf(trace: TraceVisit, { head, host, origin }: HostRequest): VisitTrace {
  const { fields, method, version } = head;
  const traceparent = firstField(fields, 'traceparent');
  const made = trace({
    hostId: host.id,
    clientId: host.clientId,
    host: host.host,
    location: host.location,
    method,
    scheme: origin.scheme,
    version: version === 'h2' ? '2' : version,
    traceparent,
    tracestate: firstField(fields, 'tracestate'),
  });
  if (traceparent !== undefined) fields.kept = without(fields.kept, (name) => TRACE_FIELDS.has(name));
  return made;
}

/** `stopped` is also the end of an answer of the gateway itself. */
function isComplete(reason: RelayEndReason): boolean {
  return reason === 'remote_closed' || reason === 'client_closed' || reason === 'stopped';
}
