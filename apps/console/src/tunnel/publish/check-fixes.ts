import type { ServiceCheckCode } from '@gatehouse/contracts';
import { hrefTo } from '../../shared/state/route.js';

export interface CheckedService {
  kind: 'host' | 'tunnel';
  id: number;
  clientId: number;
  /** Visitors show a key; there is no other way in. */
  isPrivate: boolean;
}

type Place = 'service' | 'client' | 'certificate';

/** Where what is wrong can be put right; codes that are missing here need nothing, or nothing in this console. */
const PLACES: Partial<Record<ServiceCheckCode, Place>> = {
  disabled: 'service',
  client_disabled: 'client',
  client_expired: 'client',
  quota_of_tunnel: 'service',
  quota_of_client: 'client',
  agent_offline: 'client',
  target_refused: 'service',
  target_timeout: 'service',
  target_unreachable: 'service',
  target_name: 'service',
  target_forbidden: 'service',
  target_tls: 'service',
  target_no_http: 'service',
  target_failed: 'service',
  port_failed: 'service',
  certificate_failed: 'certificate',
  certificate_expired: 'certificate',
};

/** The place and its address in the console; null: there is none. */
export function fixFor(code: ServiceCheckCode, service: CheckedService): { place: Place; href: string } | null {
  const place = PLACES[code];
  return place === undefined ? null : { place, href: addressOf(place, service) };
}

function addressOf(place: Place, { kind, id, clientId }: CheckedService): string {
  switch (place) {
    case 'service':
      return hrefTo(`${kind}s`, { id });
    case 'client':
      return hrefTo('clients', { id: clientId });
    case 'certificate':
      return hrefTo('hosts', { id, show: 'certificate' });
  }
}
