import type { CertificateView } from '@gatehouse/contracts';
import type { ShownState } from '../clients/client-state.js';

const SHOWN: Readonly<Record<CertificateView['status'], ShownState>> = {
  valid: { tone: 'good', text: 'valid' },
  expiring: { tone: 'fair', text: 'ends soon' },
  expired: { tone: 'bad', text: 'expired' },
  pending: { tone: 'info', text: 'on order' },
  failed: { tone: 'bad', text: 'failed' },
  unusable: { tone: 'bad', text: 'unusable' },
};

export const SOURCES: Readonly<Record<CertificateView['source'], string>> = {
  file: 'files of the gateway',
  upload: 'uploaded',
  acme: 'ACME',
};

export function stateOf({ status, last_error: error }: Pick<CertificateView, 'status' | 'last_error'>): ShownState {
  return error === null ? SHOWN[status] : { ...SHOWN[status], title: error };
}
