import type { CertificateView } from '@gatehouse/contracts';
import type { ShownState } from '../clients/client-state.js';
import { t } from '../messages/index.js';

const SHOWN: Readonly<Record<CertificateView['status'], ShownState>> = {
  valid: { tone: 'good', text: t('certificates.states.valid') },
  expiring: { tone: 'fair', text: t('certificates.states.expiring') },
  expired: { tone: 'bad', text: t('certificates.states.expired') },
  pending: { tone: 'info', text: t('certificates.states.pending') },
  failed: { tone: 'bad', text: t('certificates.states.failed') },
  unusable: { tone: 'bad', text: t('certificates.states.unusable') },
};

export const SOURCES: Readonly<Record<CertificateView['source'], string>> = {
  file: t('certificates.sources.file'),
  upload: t('certificates.sources.upload'),
  acme: t('certificates.sources.acme'),
};

export function stateOf({ status, last_error: error }: Pick<CertificateView, 'status' | 'last_error'>): ShownState {
  return error === null ? SHOWN[status] : { ...SHOWN[status], title: error };
}
