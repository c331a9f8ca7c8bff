import type { SecureContext, TLSSocket } from 'node:tls';
import { hasPinHints, pinHint } from '../wire/pin-hint.js';
import { certificateFingerprint } from '../wire/key-string.js';
import type { TunnelServerEnvironment } from '../server-environment.js';
import { pinnedContext } from './accept-tls.js';
import { resumptionKeys, resumptionPeriod } from './resumption-keys.js';

type Environment = Pick<TunnelServerEnvironment, 'identity' | 'nextFingerprint' | 'formerIdentity' | 'now'>;

/** The server's keys: the current one and, for a limited time, the former one for agents that know no other. */
export class ServerIdentities {
  private readonly environment: Environment;
  private readonly fingerprint: string;
  private readonly hint: string;
  private readonly former: { context: SecureContext; hint: string; until: number } | null;
  private readonly shownFormer = new WeakSet<TLSSocket>();
  private current: { context: SecureContext; period: number } | null = null;

  constructor(environment: Environment) {
    this.environment = environment;
    const { formerIdentity: former, identity } = environment;
    this.fingerprint = certificateFingerprint(identity.certificate);
    this.hint = pinHint(this.fingerprint);
    this.former = former
      ? {
          context: pinnedContext(former),
          hint: pinHint(certificateFingerprint(former.certificate)),
          until: former.until,
        }
      : null;
  }

  /** For the next connection. Its tickets can be opened by all servers with this identity. */
  get context(): SecureContext {
    const { identity, nextFingerprint = '', now } = this.environment;
    const period = resumptionPeriod(now());
    if (this.current?.period !== period) {
      const keys = resumptionKeys(identity.key, [nextFingerprint, this.former?.hint ?? ''], period);
      this.current = { period, context: pinnedContext(identity, keys) };
    }
    return this.current.context;
  }

  /**
   * The key for a connection whose ClientHello offers these protocols. Null: the current one, for everybody who pins
   * it, names no key, or pins neither.
   */
  contextFor(stream: TLSSocket, protocols: readonly string[]): SecureContext | null {
    const { former, hint, environment } = this;
    if (!former || environment.now() >= former.until) return null;
    if (!hasPinHints(protocols) || protocols.includes(hint) || !protocols.includes(former.hint)) return null;
    this.shownFormer.add(stream);
    return former.context;
  }

  /** Fingerprint of the key that this connection's agent must learn; see `WelcomeMessage`. */
  nextFor(stream: TLSSocket): string | undefined {
    return this.shownFormer.has(stream) ? this.fingerprint : this.environment.nextFingerprint;
  }
}
