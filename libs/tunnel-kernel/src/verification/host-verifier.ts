import type { GatewayAnswer, Verdict, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import type { ProblemName } from '../messages/index.js';
import type { BasicCredentials } from './basic-credentials.js';
import { parseBasic } from './basic-credentials.js';
import { foreignCookies } from './cookies.js';
import { copiedHeaders, type ForwardAuth } from './forward-auth.js';
import { busyAnswer, formTarget, isNavigation, type LoginForm } from './login-form.js';
import { ANSWER_FIELDS, visitorRefusal } from './login-page.js';
import { isSignInAnswer, signInTarget, type OAuthSignIn } from './oauth-sign-in.js';
import type { ProofCookies } from './proof-cookies.js';
import { safePath } from './safe-path.js';

export interface HostVerifierOptions {
  cookies: ProofCookies;
  credentials: BasicCredentials;
  form: LoginForm;
  forwardAuth: ForwardAuth;
  signIn: OAuthSignIn;
  /** Whether a policy is unchanged since the visitor was checked. */
  holds: (policy: VisitorPolicyConfig) => boolean;
  failed: (asked: VisitorRequest, policyId: number) => void;
}

type Policies = readonly VisitorPolicyConfig[];
type Allowed = Extract<Verdict, { allowed: true }>;
type More = Partial<Pick<Allowed, 'requestHeaders' | 'responseHeaders'>>;

/** Verifies visitors of hosts. */
export class HostVerifier {
  private readonly options: HostVerifierOptions;

  constructor(options: HostVerifierOptions) {
    this.options = options;
  }

  /** Passing any one of the policies is enough. */
  verify(asked: VisitorRequest, policies: Policies): Verdict | Promise<Verdict> {
    const formFor = formTarget(asked);
    if (formFor !== null) return this.submit(asked, policies, formFor);
    const signInFor = signInTarget(asked);
    if (signInFor !== null) return this.startSignIn(asked, policies, signInFor);
    if (isSignInAnswer(asked)) return this.finishSignIn(asked, policies);
    return this.recognise(asked, policies) ?? this.prove(asked, policies);
  }

  /** Recognises a visitor by a cookie. */
  private recognise(asked: VisitorRequest, policies: Policies): Verdict | null {
    const { cookies, forwardAuth } = this.options;
    for (const policy of policies) {
      if (policy.type === 'callback') {
        const requestHeaders = forwardAuth.recall(asked, policy);
        if (requestHeaders) return allow(asked, policies, { requestHeaders });
      } else if (policy.type !== 'basic' && cookies.find(asked, policy) !== null) return allow(asked, policies);
    }
    return null;
  }

  private async prove(asked: VisitorRequest, policies: Policies): Promise<Verdict> {
    try {
      const byCredentials = await this.byCredentials(asked, policies);
      if (byCredentials?.allowed) return byCredentials;
      const byCallback = await this.byCallback(asked, policies);
      return byCallback?.allowed ? byCallback : this.refuse(asked, policies, byCredentials, byCallback);
    } catch (error) {
      return refusal(asked, error);
    }
  }

  private async byCredentials(asked: VisitorRequest, policies: Policies): Promise<Verdict | null> {
    const given = parseBasic(asked.headers.authorization);
    const basic = given && policies.find(({ type }) => type === 'basic');
    if (!basic) return null;
    const { credentials, holds, failed } = this.options;
    const verdict = await credentials.check(policies, given, asked.visitor.address);
    if (verdict !== 'wrong' && 'policy' in verdict && holds(verdict.policy)) return allow(asked, policies);
    failed(asked, basic.id);
    if (verdict === 'wrong' || 'policy' in verdict) return null;
    return deny(visitorRefusal(asked, 429, 'tooManyTries', [['retry-after', String(verdict.limited)]]));
  }

  private async byCallback(asked: VisitorRequest, policies: Policies): Promise<Verdict | null> {
    let first: Verdict | null = null;
    for (const policy of policies) {
      if (policy.type !== 'callback') continue;
      const verdict = await this.options.forwardAuth.ask(asked, policy);
      if (verdict.allowed && this.options.holds(policy)) return allow(asked, policies, verdict);
      if (verdict.allowed) continue;
      if (verdict.answer.status === 401 || verdict.answer.status === 403) this.options.failed(asked, policy.id);
      first ??= verdict;
    }
    return first;
  }

  private refuse(
    asked: VisitorRequest,
    policies: Policies,
    byCredentials: Verdict | null,
    byCallback: Verdict | null,
  ): Verdict {
    if (byCredentials) return byCredentials;
    const asksPeople = policies.some(({ type }) => type === 'password' || type === 'oauth');
    if (asksPeople && isNavigation(asked)) return deny(this.page(asked, policies, null));
    if (policies.some(({ type }) => type === 'basic')) {
      const challenge = `Basic realm="${asked.host.replaceAll(/["\\]/g, '')}", charset="UTF-8"`;
      return deny(visitorRefusal(asked, 401, 'credentials', [['www-authenticate', challenge]]));
    }
    return byCallback ?? deny(visitorRefusal(asked, 401, 'useBrowser'));
  }

  private async submit(asked: VisitorRequest, policies: Policies, policyId: number): Promise<Verdict> {
    const { form, cookies, holds, failed } = this.options;
    try {
      const submitted = await form.submit(asked, policies, policyId);
      if ('status' in submitted) {
        if (submitted.status === 401 || submitted.status === 429) failed(asked, policyId);
        return deny(submitted);
      }
      const { policy, next } = submitted;
      if (!holds(policy)) return deny(this.page(asked, policies, 'passwordChanged'));
      return deny(seeOther(next, [cookies.issue(asked, policy).header]));
    } catch (error) {
      return refusal(asked, error);
    }
  }

  private startSignIn(asked: VisitorRequest, policies: Policies, policyId: number): Verdict {
    const policy = policies.find(({ id, type }) => id === policyId && type === 'oauth');
    const answer = policy && this.options.signIn.start(asked, policy);
    return deny(answer ?? this.page(asked, policies, 'unknownSignIn'));
  }

  private async finishSignIn(asked: VisitorRequest, policies: Policies): Promise<Verdict> {
    const { signIn, cookies, holds, failed } = this.options;
    const result = await signIn.finish(asked, policies);
    if ('policy' in result && holds(result.policy)) {
      const { policy, next } = result;
      return deny(seeOther(next, [cookies.issue(asked, policy).header, signIn.forget(asked, policy)]));
    }
    const policy = policies.find(({ type }) => type === 'oauth');
    if (policy) failed(asked, policy.id);
    const { problem, retryAfter } = 'problem' in result ? result : { problem: 'tryAgain' as const };
    return deny(this.page(asked, policies, problem, retryAfter));
  }

  private page(
    asked: VisitorRequest,
    policies: Policies,
    problem: ProblemName | null,
    retryAfter?: number,
  ): GatewayAnswer {
    const wait: GatewayAnswer['headers'] = retryAfter === undefined ? [] : [['retry-after', String(retryAfter)]];
    const status = retryAfter === undefined ? 401 : 429;
    return this.options.form.page(asked, policies, { status, problem, next: safePath(asked.target), headers: wait });
  }
}

/** The target must not see the visitor's proof to the gateway, nor fields that only a callback may set. */
function allow({ headers }: VisitorRequest, policies: Policies, more: More = {}): Allowed {
  const { requestHeaders = [], responseHeaders = [] } = more;
  const dropHeaders = policies.flatMap(copiedHeaders);
  const isBasic = /^basic /i.test(headers.authorization ?? '');
  if (isBasic && policies.some(({ type }) => type === 'basic')) dropHeaders.push('authorization');
  const cookie = foreignCookies(headers);
  if (cookie === undefined) return { allowed: true, dropHeaders, requestHeaders, responseHeaders };
  dropHeaders.push('cookie');
  const kept = cookie === null ? requestHeaders : [...requestHeaders, ['Cookie', cookie] as [string, string]];
  return { allowed: true, dropHeaders, requestHeaders: kept, responseHeaders };
}

function deny(answer: GatewayAnswer): Verdict {
  return { allowed: false, answer };
}

/** @throws unexpected errors that the visitor did not cause. */
function refusal(asked: VisitorRequest, error: unknown): Verdict {
  const answer = busyAnswer(asked, error);
  if (!answer) throw error;
  return deny(answer);
}

export function seeOther(location: string, headers: GatewayAnswer['headers']): GatewayAnswer {
  return { status: 303, headers: [['location', location], ...ANSWER_FIELDS, ...headers], body: '' };
}
