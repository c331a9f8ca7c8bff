import type { Duplex } from 'node:stream';
import { relay, resetStream, setFlowTimeout, type RelayEndReason } from '@gatehouse/net';
import type { Dispatcher } from 'undici';
import type { GatewayAnswer, Verdict } from '../access/visitor-verifier.js';
import type { HostConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { Flow } from '../flow-ledger.js';
import type { Admitted } from '../modes/admission.js';
import type { RequestRecord } from '../recording/request-record.js';
import { AnswerCompressor } from './answer-compressor.js';
import { chooseCompression, type CompressibleAnswer } from './compression.js';
import { codeOf, errorOf, readerAt, targetFailureAnswer, targetsDownAnswer, type Reader } from './answers.js';
import { TARGET_CANCELLED } from './h2c-stream.js';
import { rewritesOf } from './host-rewrites.js';
import { replyOf, type Reply, type ReplyHead } from './reply.js';
import { RequestBody } from './request-body.js';
import { isGrpc, without } from './request-fields.js';
import type { RequestHead } from './request-rules.js';
import { headBytes, readResponseFields, readTrailers } from './response-fields.js';
import { stickyCookie } from './sticky-cookie.js';
import { blames } from './target-failure.js';
import type { HostUpstreams, Upstream } from './upstreams.js';

export type Allowed = Extract<Verdict, { allowed: true }>;

/** A request that was admitted. */
export interface ExchangeRequest {
  head: RequestHead;
  host: HostConfig;
  /** Fields that describe the visitor to the target: name, value, name, value … */
  forwarded: readonly string[];
  reply: Reply;
  flow: Flow;
  admitted: Admitted;
  /** Path and query for the target. */
  path: string;
  /** Whether the visitor uses https. */
  isSecure: boolean;
  /** From the visitor's cookie: the target that it had. Null: none, or the host is not sticky. */
  tag: string | null;
  /** How long the visitor may stop reading an answer, in milliseconds. */
  stallMs: number;
  /** Null: the owner does not want to see requests, or this one is over. */
  record: RequestRecord | null;
  /** Called once, at the very end. */
  onEnd(reason: RelayEndReason): void;
}

/** `headOnly`: the answer ended with its head, which only HTTP/2 can express. */
type TargetController = Dispatcher.DispatchController & { headOnly?: boolean };

const MAX_TRIES = 2;
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);
const WAY_IS_SILENT = new Error('the agent is silent');
const NOTHING_ADDED: Allowed = { allowed: true, dropHeaders: [], requestHeaders: [], responseHeaders: [] };

/** One request to a target and its answer to the visitor: implements undici's handler, and owns the visitor's reply. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly request: ExchangeRequest;
  private readonly throttled: () => void;
  private upstreamsNow: (() => HostUpstreams) | null = null;
  /** Those of the last attempt. */
  private upstreams: HostUpstreams | null = null;
  private body: RequestBody | Buffer | null = null;
  private verdict: Allowed = NOTHING_ADDED;
  private controller: Dispatcher.DispatchController | null = null;
  private readonly tried: Upstream[] = [];
  private release: (() => void) | null = null;
  /** Of the answer; null: none was begun. */
  status: number | null = null;
  /** Bytes of the answer's head. */
  sentHead = 0;
  /** Whether the target has begun to answer. */
  private hasResponse = false;
  private sent = false;
  private over = false;
  private full = false;
  /** Bytes of the body that the target still has to send; negative: unknown. */
  private missing = -1;
  private last: Buffer | null = null;
  private trailers: string[] = [];
  /** Null: the body is passed on as it is. */
  private compressor: AnswerCompressor | null = null;
  private held = false;
  private reason: RelayEndReason | null = null;
  /** Set while the visitor reads nothing. */
  private stalled: NodeJS.Timeout | null = null;

  constructor(request: ExchangeRequest) {
    this.request = request;
    this.throttled = () => {
      this.held = false;
      this.goOn();
    };
    request.reply.owner = this;
    request.flow.handle = this;
  }

  private get reader(): Reader {
    return readerAt(this.request.host, this.request.head);
  }

  /** Sends the request to a target. */
  start(upstreamsNow: () => HostUpstreams, body: RequestBody | Buffer | null, verdict: Allowed | null): void {
    if (this.over) return;
    this.upstreamsNow = upstreamsNow;
    this.body = body;
    if (verdict) this.verdict = verdict;
    this.attempt();
  }

  /** Sends an answer of the gateway itself. */
  answer(answer: GatewayAnswer): void {
    if (this.over || this.status !== null) return;
    const { reply, flow, head: request, record } = this.request;
    const { head, content } = replyOf(answer, request.method);
    this.begin(head, errorOf(answer));
    if (content) {
      record?.answerPart(content);
      flow.counter.download += content.length;
      reply.write(content);
    }
    this.reason = 'stopped';
    reply.end([]);
  }

  /** Called by the ledger: the visitor is no longer allowed, or the server stops. */
  stop(): void {
    if (this.over) return;
    this.reason = 'stopped';
    this.request.reply.abort();
    this.controller?.abort(new Error('stopped'));
  }

  /** A request that is safe to repeat, and whose answer has not begun, is sent on another connection. */
  elsewhere(): void {
    const waits = this.sent && !this.over && this.status === null;
    if (waits && this.mayTryAgain(WAY_IS_SILENT)) this.controller?.abort(WAY_IS_SILENT);
  }

  drained(): void {
    this.full = false;
    this.moved();
    this.goOn();
  }

  gone(): void {
    this.moved();
    this.compressor?.destroy();
    if (this.over) return;
    this.over = true;
    // The target's slot is freed by aborting: a request without a connection is still in the target's queue.
    if (this.reason === null) {
      this.reason = 'client_error';
      this.controller?.abort(new Error('the visitor is gone'));
    }
    this.request.onEnd(this.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    this.sent = true;
    if (this.over) controller.abort(new Error('the visitor is gone'));
    else this.request.record?.sent();
  }

  onResponseStarted(): void {
    this.hasResponse = true;
  }

  onResponseStart(controller: TargetController, status: number, headers: unknown, text = ''): void {
    if (this.over) return;
    // An error thrown here fails the request. A 101 without an upgrade is not a valid answer.
    if (!(status >= 100) || status === 101) throw new Error(`${status} is no status of an answer`);
    const { head, reply } = this.request;
    const read = readResponseFields(controller.rawHeaders ?? headers, status);
    // HTTP/1.0 has neither chunked bodies nor interim answers.
    if (status < 200) return head.version === '1.0' ? undefined : reply.inform(status, read.fields);
    const own = this.rewrite(read.fields);
    const ended = controller.headOnly ?? read.contentLength === '0';
    const bodyless = ended || head.method === 'HEAD' || status === 204 || status === 304;
    const trailer = read.contentLength === null && !bodyless ? read.trailer : null;
    this.missing = read.contentLength === null ? -1 : Number(read.contentLength);
    const fields = this.compress({ status, fields: own, contentLength: read.contentLength }, bodyless);
    this.begin({ status, statusText: text, fields, bodyless, trailer }, null, own);
  }

  /** Prepares to compress the body where the host and the visitor want it; returns the fields to send. */
  private compress(answer: CompressibleAnswer, bodyless: boolean): string[] {
    const { host, head, reply } = this.request;
    if (host.compress !== true) return answer.fields;
    const { fields, coding, flushes } = chooseCompression(head, answer, AnswerCompressor.hasRoom);
    if (coding === null || bodyless) return fields;
    this.compressor = new AnswerCompressor({
      coding,
      flushes,
      onPart: (part) => this.deliver(part),
      onDrain: () => this.controller?.resume(),
      onEnd: () => this.finish(),
      onError: () => reply.abort(),
    });
    return fields;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over) return;
    this.request.record?.answerPart(chunk);
    this.missing -= chunk.length;
    if (!this.compressor) this.deliver(chunk);
    else if (!this.compressor.write(chunk)) controller.pause();
  }

  /** A part of the body as the visitor gets it. */
  private deliver(part: Buffer): void {
    if (this.over) return;
    const { flow, reply, admitted } = this.request;
    flow.counter.download += part.length;
    const limiter = admitted.throttle();
    // Written together with the end, which saves a system call.
    if (this.missing === 0 && !limiter && !this.compressor) this.last = part;
    else this.full = !reply.write(part);
    if (limiter && !limiter.pass(part.length, this.throttled)) this.held = true;
    if (this.full) this.watch();
    if (this.full || this.held) (this.compressor ?? this.controller)?.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: unknown): void {
    this.controller = null;
    this.release?.();
    if (this.over) return;
    this.trailers = readTrailers(controller.rawTrailers ?? trailers);
    if (this.compressor) this.compressor.end();
    else this.finish();
  }

  private finish(): void {
    if (this.over) return;
    this.reason = 'remote_closed';
    this.watch();
    this.request.reply.end(this.trailers, this.last);
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.controller = null;
    this.release?.();
    if (this.over) return;
    // Callers of gRPC know what a reset means, and would take a 502 for a service that is not there.
    const cancelled = codeOf(error) === TARGET_CANCELLED && isGrpc(this.request.head.fields);
    const begun = this.status !== null;
    if (begun || cancelled) {
      this.reason ??= 'remote_error';
      return this.request.reply.abort(cancelled && !begun);
    }
    const upstream = this.tried.at(-1);
    if (upstream && blames(error)) this.upstreams?.failed(upstream);
    if (this.mayTryAgain(error)) this.attempt();
    else this.answer(targetFailureAnswer(error, this.reader));
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, status: number, headers: unknown, target: Duplex): void {
    this.controller = null;
    this.release?.();
    if (this.over || status !== 101) {
      resetStream(target);
      return this.answer(targetFailureAnswer(new Error(`${status} is no upgrade`), this.reader));
    }
    const { reply, flow, head, admitted, record } = this.request;
    const { fields } = readResponseFields(controller.rawHeaders ?? headers, status);
    const visitor = reply.takeOver(head.upgrade ?? '', fields);
    if (!visitor) return resetStream(target);
    this.status = status;
    this.over = true;
    const bytes = headBytes('Switching Protocols', fields);
    this.sentHead = bytes;
    flow.counter.download += bytes;
    record?.answers(status, fields, bytes, null);
    flow.handle = relay(visitor, target, flow.counter, {
      throttle: admitted.throttle(),
      onClose: ({ reason }) => this.request.onEnd(reason),
    });
  }

  private attempt(): void {
    this.upstreams = this.upstreamsNow?.() ?? null;
    const upstream = this.upstreams?.pick(this.tried, this.request.tag) ?? this.tried.at(-1);
    if (!upstream && this.upstreams?.allDown) return this.answer(targetsDownAnswer(this.reader));
    if (!upstream || upstream.full) {
      return this.answer(targetFailureAnswer(new TunnelError('overloaded', 'too many requests'), this.reader));
    }
    this.tried.push(upstream);
    this.hasResponse = false;
    this.sent = false;
    const { head } = this.request;
    this.release?.();
    this.release = upstream.acquire();
    upstream.dispatch(
      {
        method: head.method as Dispatcher.HttpMethod,
        path: this.request.path,
        headers: this.fieldsForTarget(),
        body: this.body,
        upgrade: head.upgrade,
      },
      this,
    );
  }

  private fieldsForTarget(): string[] {
    const { head, host, forwarded } = this.request;
    const { host: name, request: rewrite } = rewritesOf(host);
    const { dropHeaders, requestHeaders } = this.verdict;
    const fields = ['host', name ?? head.authority, ...head.fields.kept, ...forwarded];
    let result = fields;
    if (rewrite.names.size > 0 || dropHeaders.length > 0 || requestHeaders.length > 0) {
      const own = new Set(requestHeaders.map(([field]) => field.toLowerCase()));
      const withheld = (field: string): boolean =>
        rewrite.names.has(field) || own.has(field) || dropHeaders.includes(field);
      result = without(fields, withheld);
      result.push(...requestHeaders.flat(), ...rewrite.set);
      // Trailers must not contain them either.
      if (this.body instanceof RequestBody) this.body.withheld = withheld;
    }
    if (head.fields.contentLength !== null && this.body !== null && !Buffer.isBuffer(this.body)) {
      result.push('content-length', head.fields.contentLength);
    }
    return result;
  }

  private rewrite(fields: string[]): string[] {
    const { host, tag, isSecure } = this.request;
    const { response } = rewritesOf(host);
    const { responseHeaders } = this.verdict;
    const kept = response.names.size === 0 ? fields : without(fields, (name) => response.names.has(name));
    kept.push(...response.set);
    for (const header of responseHeaders) kept.push(...header);
    const used = this.tried.at(-1)?.tag;
    if (host.sticky === true && host.targets.length > 1 && used && used !== tag) {
      kept.push(...stickyCookie(host, used, isSecure));
    }
    return kept;
  }

  /** `error`: why the gateway answers in place of the target. `recorded`: the fields before the body was compressed. */
  private begin(head: ReplyHead, error: string | null = null, recorded = head.fields): void {
    // May throw for fields that the visitor's version of HTTP does not allow.
    this.request.reply.begin(head);
    this.status = head.status;
    const bytes = headBytes(head.statusText, head.fields);
    this.sentHead = bytes;
    this.request.flow.counter.download += bytes;
    this.request.record?.answers(head.status, recorded, bytes, error);
  }

  /** Whether nothing was sent, or the connection died while idle and the request is safe to repeat. */
  private mayTryAgain(error: Error): boolean {
    if (this.tried.length >= MAX_TRIES || this.hasResponse) return false;
    if (this.body !== null && !Buffer.isBuffer(this.body) && !this.body.untouched) return false;
    if (error instanceof TunnelError) {
      return error.code === 'target' && (this.upstreams?.hasOther(this.tried) ?? false);
    }
    if (!this.sent) return true;
    return REPEATABLE.has(this.request.head.method) && codeOf(error) !== 'UND_ERR_HEADERS_TIMEOUT';
  }

  /**
   * A visitor that reads nothing must not keep its connection, and one to the target, open for ever, however little it
   * is sent.
   */
  private watch(): void {
    this.stalled ??= setFlowTimeout(null, () => this.request.reply.abort(), this.request.stallMs);
  }

  private moved(): void {
    if (this.stalled) clearTimeout(this.stalled);
    this.stalled = null;
  }

  private goOn(): void {
    if (!this.full && !this.held) (this.compressor ?? this.controller)?.resume();
  }
}
