import type { SecureContext, TLSSocket } from 'node:tls';
import { hasPinHints, pinHint } from '../wire/pin-hint.js';
import { certificateFingerprint } from '../wire/key-string.js';
import type { TunnelServerEnvironment } from '../server-environment.js';
import { pinnedContext } from './accept-tls.js';

type Environment = Pick<TunnelServerEnvironment, 'identity' | 'nextFingerprint' | 'formerIdentity' | 'now'>;

/** The keys that a server can show: its own, and until its time is over the one before, to those who know no other. */
export class ServerIdentities {
  readonly context: SecureContext;
  private readonly environment: Environment;
  private readonly fingerprint: string;
  private readonly hint: string;
  private readonly former: { context: SecureContext; hint: string; until: number } | null;
  private readonly shownFormer = new WeakSet<TLSSocket>();

  constructor(environment: Environment) {
    this.environment = environment;
    const { formerIdentity: former, identity } = environment;
    this.context = pinnedContext(identity);
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

  /**
   * The key for a connection whose ClientHello names these protocols. Null: the one in use, for everybody who knows it, who does
   * not say, or who knows neither.
   */
  contextFor(stream: TLSSocket, protocols: readonly string[]): SecureContext | null {
    const { former, hint, environment } = this;
    if (!former || environment.now() >= former.until) return null;
    if (!hasPinHints(protocols) || protocols.includes(hint) || !protocols.includes(former.hint)) return null;
    this.shownFormer.add(stream);
    return former.context;
  }

  /** Fingerprint of the key that this connection's agent has to learn; see `WelcomeMessage`. */
  nextFor(stream: TLSSocket): string | undefined {
    return this.shownFormer.has(stream) ? this.fingerprint : this.environment.nextFingerprint;
  }
}
