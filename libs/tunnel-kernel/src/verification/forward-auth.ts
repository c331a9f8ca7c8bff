import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import { TunnelError } from '../errors.js';
import { foreignCookies } from './cookies.js';
import { ANSWER_FIELDS, visitorRefusal } from './login-page.js';
import type { OutboundAnswer, OutboundCalls } from './outbound-call.js';
import type { ProofCookies } from './proof-cookies.js';

type Fields = [name: string, value: string][];

export type CallbackVerdict =
  { allowed: true; requestHeaders: Fields; responseHeaders: Fields } | { allowed: false; answer: GatewayAnswer };

interface Remembered {
  until: number;
  fields: Fields;
}

const MAX_REMEMBERED = 4096;
/** The visitor's fields that the callback gets, besides `Cookie`. */
const PASSED = ['accept', 'accept-language', 'user-agent', 'authorization'] as const;
/** Fields of a refusal that the visitor gets. */
const RELAYED = ['location', 'set-cookie', 'content-type', 'www-authenticate'] as const;
/** Fields that a callback may not set. */
const NOT_COPIED =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|cookie|set-cookie|x-forwarded-.*|x-real-ip|forwarded)$/;
const NAME = /^[a-z0-9-]{1,100}$/;

/** Fields that a policy's callback may set on requests to targets, lower case. */
export function copiedHeaders({ type, copyHeaders = [] }: VisitorPolicyConfig): string[] {
  if (type !== 'callback') return [];
  return copyHeaders.map((name) => name.toLowerCase()).filter((name) => NAME.test(name) && !NOT_COPIED.test(name));
}

/** Asks a service of the owner about each visitor, like `forwardAuth` of Traefik and `auth_request` of nginx. */
export class ForwardAuth {
  private readonly calls: OutboundCalls;
  private readonly cookies: ProofCookies;
  private readonly logger: TunnelLogger;
  private readonly now: () => number;
  /** Answers of callbacks for visitors with a cookie, by its nonce. */
  private readonly remembered = new Map<string, Remembered>();

  constructor(calls: OutboundCalls, cookies: ProofCookies, logger: TunnelLogger, now: () => number) {
    this.calls = calls;
    this.cookies = cookies;
    this.logger = logger;
    this.now = now;
  }

  /** The remembered answer; null: none. */
  recall(asked: VisitorRequest, policy: VisitorPolicyConfig): Fields | null {
    if (policy.ttlSeconds === 0) return null;
    const nonce = this.cookies.find(asked, policy);
    if (nonce === null) return null;
    if (copiedHeaders(policy).length === 0) return [];
    const known = this.remembered.get(nonce);
    return known && known.until > this.now() ? known.fields : null;
  }

  async ask(asked: VisitorRequest, policy: VisitorPolicyConfig): Promise<CallbackVerdict> {
    try {
      const answer = await this.calls.send({
        url: policy.callbackUrl ?? '',
        method: 'GET',
        headers: requestTo(asked),
        allowPrivate: policy.allowPrivate ?? false,
        forClient: asked.clientId,
      });
      const { status } = answer;
      if (status >= 200 && status < 300) return this.accept(asked, policy, answer);
      if (status < 300 || status > 599) throw new TunnelError('connection', `status ${status}`);
      return { allowed: false, answer: relayed(answer) };
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.logger.warn('a callback about visitors failed', { policy: policy.id, reason: error.message });
      return { allowed: false, answer: visitorRefusal(asked, 503, 'notChecked', [['retry-after', '5']]) };
    }
  }

  private accept(asked: VisitorRequest, policy: VisitorPolicyConfig, { headers }: OutboundAnswer): CallbackVerdict {
    const fields = copiedHeaders(policy).flatMap((name): Fields => {
      const value = headers[name];
      return value === undefined ? [] : [[name, [value].flat().join(', ')]];
    });
    if (policy.ttlSeconds === 0) return { allowed: true, requestHeaders: fields, responseHeaders: [] };
    const { header, nonce } = this.cookies.issue(asked, policy);
    if (fields.length > 0 || copiedHeaders(policy).length > 0) this.remember(nonce, fields, policy.ttlSeconds);
    return { allowed: true, requestHeaders: fields, responseHeaders: [header] };
  }

  private remember(nonce: string, fields: Fields, seconds: number): void {
    this.remembered.set(nonce, { until: this.now() + seconds * 1000, fields });
    const [oldest] = this.remembered.keys();
    if (this.remembered.size > MAX_REMEMBERED && oldest !== undefined) this.remembered.delete(oldest);
  }
}

/** `X-Forwarded-*` is set by the gateway: a visitor's own, in any spelling, is removed. */
function requestTo({
  resource,
  visitor,
  scheme,
  method,
  host,
  target,
  headers,
}: VisitorRequest): Record<string, string> {
  const authority = headers.host ?? host;
  const cookies = foreignCookies(headers);
  const cookie = cookies === undefined ? headers.cookie : cookies;
  const fields: Record<string, string> = {
    'X-Forwarded-Method': method,
    'X-Forwarded-Proto': scheme,
    'X-Forwarded-Host': authority,
    'X-Forwarded-Uri': target,
    'X-Forwarded-For': visitor.address,
    'X-Real-IP': visitor.address,
    'X-Original-Method': method,
    'X-Original-URL': `${scheme}://${authority}${target}`,
    'X-Gw-Resource': `${resource.kind}/${resource.id}`,
  };
  if (cookie) fields['Cookie'] = cookie;
  for (const name of PASSED) {
    const value = headers[name];
    if (typeof value === 'string') fields[name] = value;
  }
  return fields;
}

function relayed({ status, headers, body }: OutboundAnswer): GatewayAnswer {
  const fields: Fields = ANSWER_FIELDS.filter(([name]) => name !== 'referrer-policy').map(([name, value]) => [
    name,
    value,
  ]);
  const bodyless = body === null || status === 304;
  for (const name of RELAYED) {
    if (bodyless && name === 'content-type') continue;
    for (const value of [headers[name] ?? []].flat()) fields.push([name, value]);
  }
  return { status, headers: fields, body: bodyless ? '' : body };
}
