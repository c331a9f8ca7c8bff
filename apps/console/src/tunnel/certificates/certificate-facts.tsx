import type { CertificateView } from '@gatehouse/contracts';
import { Badge, Facts } from '../../shared/components/page.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { SOURCES, stateOf } from './certificate-state.js';

export function CertificateBadge({ certificate }: { certificate: CertificateView }) {
  const { tone, text, title } = stateOf(certificate);
  return (
    <Badge tone={tone} title={title}>
      {text}
    </Badge>
  );
}

/** All that may be known of a certificate. */
export function CertificateFacts({ certificate }: { certificate: CertificateView }) {
  const { source, names, issuer, not_after: until, last_error: error, next_renewal_at: renewal } = certificate;
  return (
    <>
      <Facts
        facts={[
          [t('words.state'), <CertificateBadge key="state" certificate={certificate} />],
          [t('words.source'), SOURCES[source]],
          [t('certificates.domains'), names.length > 0 ? names.join(', ') : null],
          [t('certificates.issuer'), issuer],
          [t('certificates.validUntil'), until === null ? null : `${formatTime(until)} (${formatRelative(until)})`],
          [t('certificates.nextRenewal'), renewal === null ? null : formatRelative(renewal)],
        ]}
      />
      {error !== null && <p class="problem">{error}</p>}
    </>
  );
}
