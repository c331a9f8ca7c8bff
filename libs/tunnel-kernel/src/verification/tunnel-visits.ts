import { RefusalSampler } from '../access/refusal-sampler.js';
import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import type { ProblemName } from '../messages/index.js';
import { seeOther } from './host-verifier.js';
import { busyAnswer, isFromHere, LoginForm, nameOf } from './login-form.js';
import { visitorRefusal, wordsFor } from './login-page.js';
import { OAuthSignIn } from './oauth-sign-in.js';
import { OutboundCalls } from './outbound-call.js';
import { PasswordChecks } from './password-checks.js';
import { ProofSigner } from './proof-signer.js';
import { readForm } from './request-form.js';
import { SharedPasswords } from './shared-passwords.js';
import type { Tries } from './try-limit.js';
import { TunnelCallback } from './tunnel-callback.js';
import { visitPage } from './visit-page.js';
import type { FailedVisitors, VerificationOptions } from './verification-options.js';

/** `until`: milliseconds since the epoch. */
export interface VisitStanding {
  until: number;
  once: boolean;
}

/** The store of grants, and who is notified about failures. */
export interface TunnelVisitsContext {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  /** Public base URL of these pages, such as `https://gw.example.org`. */
  publicUrl: string;
  tries: Tries;
  /** The grant of a visitor's address under any of these policies; null: there is none. */
  standing(tunnelId: number, address: string, policies: Policies): Promise<VisitStanding | null>;
  /** Admits an address for this many seconds, 0: for one connection. False: the policy has changed meanwhile. */
  letIn(tunnelId: number, address: string, policy: VisitorPolicyConfig, ttlSeconds: number): Promise<boolean>;
  failed(visitors: FailedVisitors): void;
}

type Policies = readonly VisitorPolicyConfig[];

const TARGET = /^\/visit\/tunnel\/(\d{1,15})(?:\/(proof|sign-in)\/(\d{1,15}))?(?:\?.*)?$/;
const CALLBACK = '/visit/oauth/callback';
const STATE = /^(\d{1,15})\.\d{1,15}\./;
const CALLBACK_MS = 5_000;

/** The tunnel of a request; null: there is no such page. */
export function visitedTunnel(target: string): number | null {
  const id = TARGET.exec(target)?.[1] ?? (isReturn(target) ? STATE.exec(stateOf(target))?.[1] : undefined);
  return id === undefined ? null : Number(id);
}

/**
 * The page on which visitors of raw tunnels have their address admitted: `GET /visit/tunnel/{id}` on the console's
 * port. It needs no script. Grants reach the data plane through the context.
 */
export class TunnelVisits {
  private readonly context: TunnelVisitsContext;
  private readonly form: LoginForm;
  private readonly calls: OutboundCalls;
  private readonly callback: TunnelCallback;
  private readonly signIn: OAuthSignIn;
  private readonly sampler: RefusalSampler;

  /** @throws RangeError for a secret that is too short. */
  constructor(options: VerificationOptions, context: TunnelVisitsContext) {
    const { now, logger, publicUrl, tries } = context;
    const { timeouts = {}, permits, resolve, plainCallbackHosts: plainHosts, oauthIssuers: issuers = [] } = options;
    const signer = new ProofSigner(options.secret, now, options.formerSecrets);
    this.context = context;
    this.sampler = new RefusalSampler(now);
    this.form = new LoginForm(signer, new SharedPasswords(new PasswordChecks(options.verifyPassword), tries));
    this.calls = new OutboundCalls({ permits, resolve, plainHosts, timeoutMs: timeouts.callback ?? CALLBACK_MS });
    this.callback = new TunnelCallback(this.calls, logger);
    const redirectUri = new URL(CALLBACK, publicUrl).href;
    const { calls } = this;
    this.signIn = new OAuthSignIn({ issuers, calls, signer, logger, tries, redirectUri: () => redirectUri });
  }

  /** `policies`: the current ones of the tunnel. */
  async answer(asked: VisitorRequest, policies: Policies): Promise<GatewayAnswer> {
    const ways = policies.filter(({ type, oauth }) => type !== 'basic' && (type !== 'oauth' || oauth !== undefined));
    if (ways.length === 0) return visitorRefusal(asked, 404, 'nothingToProve');
    const [, , step, id] = TARGET.exec(asked.target) ?? [];
    const policy = ways.find((each) => String(each.id) === id);
    try {
      if (isReturn(asked.target)) return await this.finish(asked, ways);
      if (step === undefined) return await this.show(asked, ways);
      if (!policy) return await this.page(asked, ways, 404, 'unknownSignIn');
      return step === 'proof' ? await this.prove(asked, ways, policy) : await this.begin(asked, ways, policy);
    } catch (error) {
      const answer = busyAnswer(asked, error);
      if (!answer) throw error;
      return answer;
    }
  }

  stop(): void {
    this.calls.close();
  }

  private async show(asked: VisitorRequest, ways: Policies): Promise<GatewayAnswer> {
    if (asked.method === 'GET' || asked.method === 'HEAD') return this.page(asked, ways, 200, null);
    return visitorRefusal(asked, 405, 'openPage', [['allow', 'GET, HEAD']]);
  }

  private async prove(asked: VisitorRequest, ways: Policies, policy: VisitorPolicyConfig): Promise<GatewayAnswer> {
    if (asked.method !== 'POST') return visitorRefusal(asked, 405, 'sendForm', [['allow', 'POST']]);
    if (!isFromHere(asked)) return visitorRefusal(asked, 403, 'foreignForm');
    const fields = await readForm(asked);
    if (!fields) return visitorRefusal(asked, 415, 'formType');
    if (!this.form.isOwn(asked, policy, fields.get('csrf') ?? '')) {
      return this.page(asked, ways, 403, 'pageExpired');
    }
    if (policy.type === 'password') return this.byPassword(asked, ways, fields);
    if (policy.type === 'callback') return this.byCallback(asked, ways, policy);
    return this.page(asked, ways, 404, 'noForm');
  }

  private async byPassword(asked: VisitorRequest, ways: Policies, fields: URLSearchParams): Promise<GatewayAnswer> {
    const verdict = await this.form.check(ways, fields, asked.visitor.address);
    if (verdict !== 'wrong' && 'policy' in verdict) {
      const { policy } = verdict;
      return this.letIn(asked, ways, policy, policy.ttlSeconds);
    }
    const policy = ways.find(({ type }) => type === 'password');
    if (policy) this.report(asked, policy);
    if (verdict === 'wrong') return this.page(asked, ways, 401, 'wrongPassword');
    const wait = [['retry-after', String(verdict.limited)]] as GatewayAnswer['headers'];
    return this.page(asked, ways, 429, 'tooManyTries', wait);
  }

  /** Each request costs another service time, so it counts like a guess. */
  private async byCallback(asked: VisitorRequest, ways: Policies, policy: VisitorPolicyConfig): Promise<GatewayAnswer> {
    const { tries } = this.context;
    const { address } = asked.visitor;
    if (!(await tries.take(policy.id, address))) {
      const wait: [string, string] = ['retry-after', String(await tries.retryAfter(policy.id, address))];
      return this.page(asked, ways, 429, 'tooManyTries', [wait]);
    }
    const ttl = await this.callback.ask(asked, policy);
    if (ttl !== null) return this.letIn(asked, ways, policy, ttl);
    this.report(asked, policy);
    return this.page(asked, ways, 403, 'addressRefused');
  }

  private async begin(asked: VisitorRequest, ways: Policies, policy: VisitorPolicyConfig): Promise<GatewayAnswer> {
    if (asked.method !== 'GET') return visitorRefusal(asked, 405, 'followLink', [['allow', 'GET']]);
    return this.signIn.start(asked, policy) ?? this.page(asked, ways, 404, 'unknownSignIn');
  }

  private async finish(asked: VisitorRequest, ways: Policies): Promise<GatewayAnswer> {
    if (asked.method !== 'GET') return visitorRefusal(asked, 405, 'followLink', [['allow', 'GET']]);
    const result = await this.signIn.finish(asked, ways);
    if ('policy' in result) {
      const { policy } = result;
      return this.letIn(asked, ways, policy, policy.ttlSeconds, [this.signIn.forget(asked, policy)]);
    }
    const policy = ways.find(({ type }) => type === 'oauth');
    if (policy) this.report(asked, policy);
    const { problem, retryAfter } = result;
    if (retryAfter === undefined) return this.page(asked, ways, 401, problem);
    return this.page(asked, ways, 429, problem, [['retry-after', String(retryAfter)]]);
  }

  private async letIn(
    asked: VisitorRequest,
    ways: Policies,
    policy: VisitorPolicyConfig,
    ttlSeconds: number,
    headers: GatewayAnswer['headers'] = [],
  ): Promise<GatewayAnswer> {
    const { resource, visitor } = asked;
    if (await this.context.letIn(resource.id, visitor.address, policy, ttlSeconds)) {
      return seeOther(`/visit/tunnel/${resource.id}`, headers);
    }
    return this.page(asked, ways, 401, 'accessChanged', headers);
  }

  private async page(
    asked: VisitorRequest,
    ways: Policies,
    status: number,
    problem: ProblemName | null,
    headers: GatewayAnswer['headers'] = [],
  ): Promise<GatewayAnswer> {
    const { id: tunnelId } = asked.resource;
    const { address } = asked.visitor;
    const [password] = ways.filter(({ type }) => type === 'password');
    const asking = ways.filter(({ type }) => type === 'callback');
    const formFor = (policy: VisitorPolicyConfig): { action: string; csrf: string } => ({
      action: `/visit/tunnel/${tunnelId}/proof/${policy.id}`,
      csrf: browser.sign(policy),
    });
    const browser = this.form.forBrowser(asked);
    const words = wordsFor(asked);
    return visitPage(words, {
      status,
      tunnelId,
      address,
      standing: await this.context.standing(tunnelId, address, ways),
      form: password ? formFor(password) : null,
      questions: asking.map(formFor),
      links: ways.flatMap(({ id, type, oauth }) =>
        type === 'oauth' && oauth
          ? [
              {
                href: `/visit/tunnel/${tunnelId}/sign-in/${id}`,
                label: words.text('signIn.with', { name: nameOf(oauth.issuer) }),
              },
            ]
          : [],
      ),
      problem,
      headers: [...(password || asking.length > 0 ? browser.cookie : []), ...headers],
    });
  }

  private report({ resource, clientId, visitor }: VisitorRequest, { id: policyId }: VisitorPolicyConfig): void {
    const count = this.sampler.count(resource, `policy ${policyId}`);
    if (count > 0) this.context.failed({ resource, clientId, policyId, address: visitor.address, count });
  }
}

function isReturn(target: string): boolean {
  return target.startsWith(`${CALLBACK}?`);
}

function stateOf(target: string): string {
  return new URLSearchParams(target.slice(CALLBACK.length)).get('state') ?? '';
}
