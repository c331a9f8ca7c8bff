import { guardPromise, formatIp, GuessLimit, parseIp } from '@gatehouse/net';
import { RefusalSampler } from '../access/refusal-sampler.js';
import type { SocketVisitor, Verdict, VisitorRequest, VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelServerConfig, VisitorPolicyConfig } from '../config.js';
import { EMPTY_CONFIG } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import type { ResourceRef } from '../resource.js';
import { BasicCredentials, parseBasic } from './basic-credentials.js';
import { ForwardAuth } from './forward-auth.js';
import { MemoryGrantStore, type GrantStore } from './grants.js';
import { HostVerifier } from './host-verifier.js';
import { isBusy, LoginForm } from './login-form.js';
import { visitorRefusal } from './login-page.js';
import { hostRedirectUri, OAuthSignIn } from './oauth-sign-in.js';
import { OutboundCalls } from './outbound-call.js';
import { PasswordChecks } from './password-checks.js';
import { PolicyTable } from './policy-table.js';
import { ProofCookies } from './proof-cookies.js';
import { ProofSigner } from './proof-signer.js';
import { RawGreeting } from './raw-greeting.js';
import { SharedPasswords } from './shared-passwords.js';
import { TryLimit } from './try-limit.js';
import { TunnelCallback, type RawVisitor } from './tunnel-callback.js';
import type { FailedVisitors, VerificationOptions } from './verification-options.js';
import type { Endpoint } from '../base/endpoint.js';

export interface PolicyVerifierContext {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  failed: (visitors: FailedVisitors) => void;
}

/** A request to let an address use a raw tunnel. */
export interface GrantRequest {
  tunnelId: number;
  /** Null: any policy of the tunnel that has a password. */
  policyId: number | null;
  address: string;
  password: string;
}

/** `until`: milliseconds since the epoch. `limited`: seconds until the next try. */
export type GrantOutcome =
  | { granted: true; until: number; once: boolean }
  | { granted: false; reason: 'unknown' | 'wrong' }
  | { granted: false; reason: 'limited'; retryAfter: number };

const CALLBACK_MS = 5_000;
const GREETING_MS = 20_000;
/** How long a single-use grant waits for its connection. */
const ONCE_MS = 60_000;

/** Verifies visitors by the configured policies. */
export class PolicyVerifier implements VisitorVerifier {
  private readonly context: PolicyVerifierContext;
  private readonly grants: GrantStore;
  private readonly passwords: SharedPasswords;
  private readonly credentials: BasicCredentials;
  private readonly callback: TunnelCallback;
  private readonly calls: OutboundCalls;
  private readonly hosts: HostVerifier;
  private readonly greeting: RawGreeting;
  private readonly sampler: RefusalSampler;
  private table = new PolicyTable(EMPTY_CONFIG);

  /** @throws RangeError for a secret that is too short. */
  constructor(options: VerificationOptions, context: PolicyVerifierContext) {
    const { now, logger } = context;
    const { timeouts = {}, permits, resolve, plainCallbackHosts: plainHosts, oauthIssuers: issuers = [] } = options;
    this.context = context;
    this.grants = options.grants ?? new MemoryGrantStore(now);
    this.sampler = new RefusalSampler(now);
    this.calls = new OutboundCalls({ permits, resolve, plainHosts, timeoutMs: timeouts.callback ?? CALLBACK_MS });
    this.callback = new TunnelCallback(this.calls, logger);
    const signer = new ProofSigner(options.secret, now, options.formerSecrets);
    const cookies = new ProofCookies(signer);
    const tries = new TryLimit(now);
    const checks = new PasswordChecks(options.verifyPassword, (policy) => this.table.clientOf(policy));
    this.passwords = new SharedPasswords(checks, tries);
    this.credentials = new BasicCredentials(checks, signer, new GuessLimit(now), now);
    const form = new LoginForm(signer, this.passwords);
    this.hosts = new HostVerifier({
      cookies,
      credentials: this.credentials,
      form,
      forwardAuth: new ForwardAuth(this.calls, cookies, logger, now),
      signIn: new OAuthSignIn({ issuers, calls: this.calls, signer, logger, tries, redirectUri: hostRedirectUri }),
      holds: (policy) => this.table.has(policy),
      failed: ({ resource, clientId, visitor }, policyId) => this.report(resource, clientId, visitor.address, policyId),
    });
    this.greeting = new RawGreeting({
      form,
      policiesOf: ({ resource, clientId }) => this.table.of(resource, clientId),
      letIn: ({ resource, visitor }, policy) => this.letIn(resource.id, visitor.address, policy) !== null,
      failed: (visitor) => this.reportRaw(visitor, 'password'),
      deadlineMs: timeouts.greeting ?? GREETING_MS,
    });
  }

  apply(config: TunnelServerConfig): ReadonlySet<string> {
    const before = this.table;
    this.table = new PolicyTable(config);
    return this.table.changedSince(before);
  }

  stop(): void {
    this.calls.close();
  }

  guards(resource: ResourceRef, clientId: number): boolean {
    return this.table.of(resource, clientId).length > 0;
  }

  allows(resource: ResourceRef, clientId: number, visitor: Endpoint): boolean | Promise<boolean> {
    const policies = this.table.of(resource, clientId);
    if (policies.length === 0) return true;
    if (policies.some((policy) => this.useGrant(resource.id, visitor.address, policy))) return true;
    const callbacks = policies.filter(({ type }) => type === 'callback');
    if (callbacks.length > 0) return this.askAbout({ resource, clientId, visitor }, callbacks);
    if (this.table.isSilent(resource.id)) this.reportRaw({ resource, clientId, visitor }, 'password');
    return false;
  }

  greet(visitor: SocketVisitor): boolean {
    const policies = this.table.of(visitor.resource, visitor.clientId);
    if (!policies.some(({ type }) => type === 'password')) return false;
    guardPromise(visitor.socket, this.greeting.greet(visitor));
    return true;
  }

  verify(request: VisitorRequest): Verdict | Promise<Verdict> {
    const policies = this.table.of(request.resource, request.clientId);
    if (policies.length === 0) return { allowed: true, dropHeaders: [], requestHeaders: [], responseHeaders: [] };
    return request.resource.kind === 'host' ? this.hosts.verify(request, policies) : this.verifyProxied(request);
  }

  async checkPassword(
    resource: ResourceRef,
    clientId: number,
    user: string,
    password: string,
    visitor: Endpoint,
  ): Promise<boolean> {
    const policies = this.table.of(resource, clientId);
    if (policies.length === 0) return true;
    try {
      const verdict = await this.credentials.check(policies, { user, password }, visitor.address);
      if (verdict !== 'wrong' && 'policy' in verdict && this.table.has(verdict.policy)) return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      return false;
    }
    this.reportRaw({ resource, clientId, visitor }, 'basic');
    return false;
  }

  /**
   * Lets an address use a raw tunnel for as long as the policy says. This includes everybody behind the same address.
   * @throws TunnelError `overloaded` for too many at a time
   */
  async grant({ tunnelId, policyId, address, password }: GrantRequest): Promise<GrantOutcome> {
    const policies = this.table
      .ofTunnel(tunnelId)
      .filter(({ id, type }) => type === 'password' && (policyId === null || id === policyId));
    const ip = parseIp(address);
    if (!ip || policies.length === 0) return { granted: false, reason: 'unknown' };
    const verdict = await this.passwords.check(policies, password, formatIp(ip));
    if (verdict === 'wrong') return { granted: false, reason: 'wrong' };
    if ('limited' in verdict) return { granted: false, reason: 'limited', retryAfter: verdict.limited };
    return this.letIn(tunnelId, formatIp(ip), verdict.policy) ?? { granted: false, reason: 'unknown' };
  }

  /** Only `Proxy-Authorization` counts here: `Authorization` is for the target. */
  private async verifyProxied(request: VisitorRequest): Promise<Verdict> {
    const { resource, clientId, visitor, headers } = request;
    const given = parseBasic(headers['proxy-authorization']);
    if (given && (await this.checkPassword(resource, clientId, given.user, given.password, visitor))) {
      return { allowed: true, dropHeaders: ['proxy-authorization'], requestHeaders: [], responseHeaders: [] };
    }
    if (!this.table.of(resource, clientId).some(({ type }) => type === 'basic')) {
      return { allowed: false, answer: visitorRefusal(request, 403, 'addressRefused') };
    }
    const challenge = `Basic realm="tunnel ${resource.id}", charset="UTF-8"`;
    const answer = visitorRefusal(request, 407, 'credentials', [['proxy-authenticate', challenge]]);
    return { allowed: false, answer };
  }

  private async askAbout(visitor: RawVisitor, callbacks: readonly VisitorPolicyConfig[]): Promise<boolean> {
    const { resource } = visitor;
    for (const policy of callbacks) {
      const ttl = await this.callback.ask(visitor, policy);
      if (ttl === null || !this.table.has(policy)) continue;
      if (ttl > 0) this.put(resource.id, visitor.visitor.address, policy, ttl);
      return true;
    }
    this.reportRaw(visitor, 'callback');
    return false;
  }

  private useGrant(tunnelId: number, address: string, policy: VisitorPolicyConfig): boolean {
    const key = { tunnelId, address, policyId: policy.id };
    const grant = this.grants.get(key);
    if (!grant || grant.policyVersion !== policy.version || grant.until <= this.context.now()) return false;
    if (grant.once) this.grants.remove(key);
    return true;
  }

  /** Null: the policy has changed meanwhile. */
  private letIn(
    tunnelId: number,
    address: string,
    policy: VisitorPolicyConfig,
  ): Extract<GrantOutcome, { granted: true }> | null {
    return this.table.has(policy) ? this.put(tunnelId, address, policy, policy.ttlSeconds) : null;
  }

  private put(
    tunnelId: number,
    address: string,
    { id, version }: VisitorPolicyConfig,
    ttlSeconds: number,
  ): Extract<GrantOutcome, { granted: true }> {
    const once = ttlSeconds === 0;
    const until = this.context.now() + (once ? ONCE_MS : ttlSeconds * 1000);
    this.grants.put({ tunnelId, address, policyId: id, policyVersion: version, until, once });
    return { granted: true, until, once };
  }

  private reportRaw({ resource, clientId, visitor }: RawVisitor, type: VisitorPolicyConfig['type']): void {
    const policies = this.table.of(resource, clientId);
    const policy = policies.find((each) => each.type === type) ?? policies[0];
    if (policy) this.report(resource, clientId, visitor.address, policy.id);
  }

  private report(resource: ResourceRef, clientId: number, address: string, policyId: number): void {
    const count = this.sampler.count(resource, `policy ${policyId}`);
    if (count > 0) this.context.failed({ resource, clientId, policyId, address, count });
  }
}
