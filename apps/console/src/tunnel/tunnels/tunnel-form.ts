import type { TunnelModeName, TunnelView } from '@gatehouse/contracts';
import { numberOr } from '../clients/client-form.js';
import { quotaBody, quotaFormOf, type QuotaForm } from '../parts/quota-form.js';
import { TUNNEL_MODES } from './tunnel-modes.js';
import { portsOf, textOfPorts } from './tunnel-ports.js';

export interface TunnelForm extends QuotaForm {
  client_id: string;
  name: string;
  mode: TunnelModeName;
  listen_ip: string;
  /** One, or a range such as `6000-6010`. Empty: any free one. */
  listen_port: string;
  target_addr: string;
  proxy_protocol: '0' | '1' | '2';
  accept_proxy_protocol: boolean;
  rate_limit: string;
}

export function formOf(tunnel: TunnelView | null, clientId = ''): TunnelForm {
  return {
    client_id: tunnel === null ? clientId : String(tunnel.client_id),
    name: tunnel?.name ?? '',
    mode: tunnel?.mode ?? 'tcp',
    listen_ip: tunnel?.listen_ip ?? '0.0.0.0',
    listen_port: tunnel === null || tunnel.listen_port === 0 ? '' : textOfPorts(tunnel),
    target_addr: tunnel?.target_addr ?? '',
    proxy_protocol: String(tunnel?.proxy_protocol ?? 0) as TunnelForm['proxy_protocol'],
    accept_proxy_protocol: tunnel?.accept_proxy_protocol ?? false,
    rate_limit: String(tunnel?.rate_limit ?? 0),
    ...quotaFormOf(tunnel),
  };
}

/** Fields that the mode has; of the others nothing is said. */
export function toBody(form: TunnelForm): Record<string, unknown> {
  const { hasPort, hasProxyProtocol } = TUNNEL_MODES[form.mode];
  return {
    client_id: numberOr(form.client_id, 0),
    name: form.name.trim() === '' ? null : form.name,
    mode: form.mode,
    target_addr: form.target_addr,
    rate_limit: numberOr(form.rate_limit, 0),
    ...quotaBody(form),
    port_count: 1,
    ...(hasPort && { listen_ip: form.listen_ip, ...portsOf(form.listen_port, form.target_addr) }),
    ...(hasPort && { accept_proxy_protocol: form.accept_proxy_protocol }),
    ...(hasProxyProtocol && { proxy_protocol: Number(form.proxy_protocol) }),
  };
}

/** What differs from the tunnel as it was read; its client stays. */
export function changesOf(tunnel: TunnelView, form: TunnelForm): Record<string, unknown> {
  const before = toBody(formOf(tunnel));
  const { client_id: _stays, ...after } = toBody(form);
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]));
}
