import type { CertificateView } from '@gatehouse/contracts';
import { Badge, Facts } from '../../shared/components/page.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
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
          ['State', <CertificateBadge key="state" certificate={certificate} />],
          ['Where from', SOURCES[source]],
          ['Good for', names.length > 0 ? names.join(', ') : null],
          ['From', issuer],
          ['Until', until === null ? null : `${formatTime(until)} (${formatRelative(until)})`],
          ['Next order', renewal === null ? null : formatRelative(renewal)],
        ]}
      />
      {error !== null && <p class="problem">{error}</p>}
    </>
  );
}
