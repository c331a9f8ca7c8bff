import { randomBytes } from 'node:crypto';
import type { GatewayAnswer, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import { TunnelError } from '../errors.js';
import type { ProblemName } from '../messages/index.js';
import { cookieName, cookieValues, setCookie } from './cookies.js';
import { loginPage, visitorRefusal, wordsFor } from './login-page.js';
import type { ProofSigner } from './proof-signer.js';
import { readForm } from './request-form.js';
import { safePath } from './safe-path.js';
import type { PasswordVerdict, SharedPasswords } from './shared-passwords.js';

/** What the visitor is shown besides the form. */
export interface PageState {
  status: number;
  /** Null: nothing was tried yet. */
  problem: ProblemName | null;
  next: string;
  headers: GatewayAnswer['headers'];
}

export type Submitted = { policy: VisitorPolicyConfig; next: string } | GatewayAnswer;

type Policies = readonly VisitorPolicyConfig[];

const FORM_SECONDS = 3600;
const CSRF_COOKIE = 'gwc';
const CSRF_VALUE = /^[A-Za-z0-9_-]{24}$/;

/** Browsers ask for `text/html` when a person opens a page. */
export function isNavigation({ method, headers }: Pick<VisitorRequest, 'method' | 'headers'>): boolean {
  return method === 'GET' && (headers.accept?.includes('text/html') ?? false);
}

/** The policy of a submitted form; null: the request is not one. */
export function formTarget({ target }: VisitorRequest): number | null {
  const id = /^\/__gw\/auth\/(\d{1,15})(?:\?|$)/.exec(target)?.[1];
  return id === undefined ? null : Number(id);
}

export interface FormTokens {
  sign(policy: VisitorPolicyConfig): string;
  cookie: GatewayAnswer['headers'];
}

/** Asks for the password of policies of type `password`, on a host or on a raw tunnel's own port. */
export class LoginForm {
  private readonly signer: ProofSigner;
  private readonly passwords: SharedPasswords;

  constructor(signer: ProofSigner, passwords: SharedPasswords) {
    this.signer = signer;
    this.passwords = passwords;
  }

  /** Tokens of a page's forms, and the cookie that they are bound to if the browser has none. */
  forBrowser(asked: VisitorRequest): FormTokens {
    const known = cookieValues(asked, cookieName(asked, CSRF_COOKIE)).find((value) => CSRF_VALUE.test(value));
    // Shared by all open pages.
    const browser = known ?? randomBytes(18).toString('base64url');
    return {
      sign: (policy) => this.signer.sign(policy, formContext(asked, browser), FORM_SECONDS).text,
      cookie: known === undefined ? [setCookie(asked, CSRF_COOKIE, browser)] : [],
    };
  }

  /** Whether a form was made here, for this browser, recently. */
  isOwn(asked: VisitorRequest, policy: VisitorPolicyConfig, csrf: string): boolean {
    return cookieValues(asked, cookieName(asked, CSRF_COOKIE)).some(
      (browser) => CSRF_VALUE.test(browser) && this.signer.read(csrf, policy, formContext(asked, browser)) !== null,
    );
  }

  /** Counts guesses. @throws TunnelError `overloaded` for too many at a time */
  check(policies: Policies, fields: URLSearchParams, address: string): Promise<PasswordVerdict> {
    return this.passwords.check(policies, fields.get('password') ?? '', address);
  }

  page(asked: VisitorRequest, policies: Policies, { status, problem, next, headers }: PageState): GatewayAnswer {
    const { id } = asked.resource;
    const password = policies.find(({ type }) => type === 'password');
    const oauth = policies.filter((policy) => policy.type === 'oauth' && policy.oauth);
    const browser = this.forBrowser(asked);
    const form = password && { action: `/__gw/auth/${password.id}?r=${id}`, csrf: browser.sign(password), next };
    const words = wordsFor(asked);
    return loginPage(words, {
      status,
      site: asked.headers.host ?? asked.host,
      form: form ?? null,
      links: oauth.map((policy) => ({
        href: `/__gw/oauth/start/${policy.id}?r=${id}&next=${encodeURIComponent(next)}`,
        label: words.text('signIn.with', { name: nameOf(policy.oauth?.issuer ?? '') }),
      })),
      problem,
      headers: [...(form ? browser.cookie : []), ...headers],
    });
  }

  /** Checks a submitted form. @throws TunnelError of `readBody`, `overloaded` for too many at a time. */
  async submit(asked: VisitorRequest, policies: Policies, policyId: number): Promise<Submitted> {
    const first = policies.find(({ id, type }) => id === policyId && type === 'password');
    if (!first) return visitorRefusal(asked, 404, 'noForm');
    if (asked.method !== 'POST') return visitorRefusal(asked, 405, 'sendForm', [['allow', 'POST']]);
    if (!isFromHere(asked)) return visitorRefusal(asked, 403, 'foreignForm');
    const fields = await readForm(asked);
    if (!fields) return visitorRefusal(asked, 415, 'formType');
    const next = safePath(fields.get('next'));
    const refuse = (status: number, problem: ProblemName, headers: PageState['headers'] = []): GatewayAnswer =>
      asked.headers.accept === undefined || asked.headers.accept.includes('text/html')
        ? this.page(asked, policies, { status, problem, next, headers })
        : visitorRefusal(asked, status, problem, headers);
    if (!this.isOwn(asked, first, fields.get('csrf') ?? '')) return refuse(403, 'pageExpired');
    const verdict = await this.check(policies, fields, asked.visitor.address);
    if (verdict === 'wrong') return refuse(401, 'wrongPassword');
    if ('limited' in verdict) {
      return refuse(429, 'tooManyTries', [['retry-after', String(verdict.limited)]]);
    }
    return { policy: verdict.policy, next };
  }
}

/** Errors that the visitor did not cause, or caused by its form, and the answer to each. */
const BUSY: Partial<Record<TunnelError['code'], { status: number; problem: ProblemName }>> = {
  timeout: { status: 408, problem: 'formTimeout' },
  protocol: { status: 413, problem: 'formTooLarge' },
  overloaded: { status: 503, problem: 'busy' },
};

export function isBusy(error: unknown): error is TunnelError {
  return error instanceof TunnelError && BUSY[error.code] !== undefined;
}

/** Null: the error is another one. */
export function busyAnswer(asked: VisitorRequest, error: unknown): GatewayAnswer | null {
  const known = error instanceof TunnelError ? BUSY[error.code] : undefined;
  if (!known) return null;
  const wait: GatewayAnswer['headers'] = known.status === 503 ? [['retry-after', '1']] : [];
  return visitorRefusal(asked, known.status, known.problem, wait);
}

function formContext({ host, scheme }: VisitorRequest, browser: string): string {
  return `form\0${scheme}\0${host}\0${browser}`;
}

/** Browsers name the origin of a form; other clients need not. */
export function isFromHere({ headers, host }: VisitorRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (headers.origin === undefined) return true;
  return URL.parse(headers.origin)?.hostname === host;
}

export function nameOf(issuer: string): string {
  return URL.parse(issuer)?.host ?? issuer;
}
