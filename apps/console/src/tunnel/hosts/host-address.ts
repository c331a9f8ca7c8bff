import type { HostView, TunnelGatewayView } from '@gatehouse/contracts';

type Named = Pick<HostView, 'host' | 'location' | 'scheme' | 'has_cert' | 'auto_https'>;
type Ports = Pick<TunnelGatewayView, 'http_port' | 'https_port'>;

/** Where browsers go; null where the name stands for many. */
export function addressOf(host: Named, { http_port: http, https_port: https }: Ports): string | null {
  if (host.host.startsWith('*')) return null;
  const isSecure = host.scheme === 'https' || (host.scheme === 'all' && (host.has_cert || host.auto_https === 1));
  const [scheme, port, usual] = isSecure ? ['https', https, 443] : ['http', http, 80];
  if (port === null) return null;
  return `${scheme}://${host.host}${port === usual ? '' : `:${port}`}${host.location}`;
}

export function nameOf({ host, location }: Pick<HostView, 'host' | 'location'>): string {
  return location === '/' ? host : `${host}${location}`;
}
