import type { CertificateView } from '@gatehouse/contracts';
import type { AcmeState } from '../acme/acme-schedule.js';
import { expiresSoon } from '../acme/renewal.js';
import type { Host } from '../data/host.entity.js';
import { readerText } from '../reader-text.js';
import { instant } from '../wire/view-parts.js';
import { namesCover, type CertificateFacts } from '../common/certificate-facts.js';

export interface KnownCertificate {
  host: Host;
  source: CertificateView['source'];
  /** Null if there is no certificate. */
  facts: CertificateFacts | null;
  /** Why there is none, or why it cannot be used. */
  problem: string | null;
  /** State of the orders for its name. */
  state: AcmeState | undefined;
  now: number;
}

export function toCertificateView({ host, source, facts, problem, state, now }: KnownCertificate): CertificateView {
  const lastError = problem ?? (source === 'acme' ? (state?.lastError ?? null) : null);
  return {
    id: host.id,
    host: host.host,
    source,
    status: facts ? statusOf(facts, host.host, problem, now) : source === 'acme' ? waiting(state) : 'unusable',
    subject: facts?.subject ?? null,
    names: facts?.names ?? [],
    issuer: facts?.issuer ?? null,
    not_before: instant(facts?.notBefore ?? null),
    not_after: instant(facts?.notAfter ?? null),
    last_error: lastError === null ? null : readerText(lastError),
    next_renewal_at: source === 'acme' ? instant(state?.nextAt ?? null) : null,
  };
}

function statusOf(
  { names, notBefore, notAfter }: CertificateFacts,
  host: string,
  problem: string | null,
  now: number,
): CertificateView['status'] {
  // Files are chosen by administrators, possibly for other clients than browsers.
  if (problem !== null && !namesCover(names, host)) return 'unusable';
  if (+notAfter <= now) return 'expired';
  return expiresSoon({ notBefore: +notBefore, notAfter: +notAfter }, now) ? 'expiring' : 'valid';
}

function waiting(state: AcmeState | undefined): CertificateView['status'] {
  return state && state.failures > 0 ? 'failed' : 'pending';
}
