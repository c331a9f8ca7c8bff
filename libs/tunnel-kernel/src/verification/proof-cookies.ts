import type { VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import { resourceKey } from '../resource.js';
import { cookieName, cookieValues, setCookie } from './cookies.js';
import type { ProofSigner } from './proof-signer.js';

/** Maximum lifetime of a proof, including session cookies. */
const MAX_SECONDS = 2_592_000;

/** Cookies that save a visitor from proving the same with every request. */
export class ProofCookies {
  private readonly signer: ProofSigner;

  constructor(signer: ProofSigner) {
    this.signer = signer;
  }

  /** The nonce of a valid cookie for this policy; null: there is none. */
  find(asked: VisitorRequest, policy: VisitorPolicyConfig): string | null {
    const context = this.contextOf(asked, policy);
    for (const value of cookieValues(asked, cookieName(asked, nameFor(policy)))) {
      const nonce = this.signer.read(value, policy, context);
      if (nonce !== null) return nonce;
    }
    return null;
  }

  issue(asked: VisitorRequest, policy: VisitorPolicyConfig): { header: [string, string]; nonce: string } {
    const { ttlSeconds } = policy;
    const seconds = ttlSeconds > 0 ? Math.min(ttlSeconds, MAX_SECONDS) : MAX_SECONDS;
    const { text, nonce } = this.signer.sign(policy, this.contextOf(asked, policy), seconds);
    return { header: setCookie(asked, nameFor(policy), text, ttlSeconds > 0 ? seconds : undefined), nonce };
  }

  /** A callback decided about one resource and these credentials: its answer is valid for no others. */
  private contextOf({ scheme, host, resource, headers }: VisitorRequest, { type }: VisitorPolicyConfig): string {
    const own = `proof\0${type}\0${scheme}\0${host}`;
    if (type !== 'callback') return own;
    const credentials = this.signer.digest('authorization', headers.authorization ?? '');
    return `${own}\0${resourceKey(resource)}\0${credentials}`;
  }
}

function nameFor({ id }: VisitorPolicyConfig): string {
  return `gwv_${id}`;
}
