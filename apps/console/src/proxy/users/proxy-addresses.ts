import type { KernelListenerView, ProxyUserView } from '@gatehouse/contracts';

export interface ProxyAddress {
  scheme: 'http' | 'socks5h';
  url: string;
}

/**
 * What programs are given to use the proxy as this user. A proxy that listens everywhere is where this page is.
 * @param hostname of the page
 */
export function proxyAddresses(
  { name, password }: Pick<ProxyUserView, 'name' | 'password'>,
  listeners: readonly KernelListenerView[],
  hostname: string,
): ProxyAddress[] {
  const login = `${encodeURIComponent(name)}:${encodeURIComponent(password ?? '')}`;
  const at = (schemes: Record<string, ProxyAddress['scheme']>): ProxyAddress[] =>
    Object.entries(schemes).flatMap(([type, scheme]) => {
      const found = listeners.find((listener) => listener.name === type && listener.state === 'listening');
      return found ? [{ scheme, url: `${scheme}://${login}@${hostOf(found.address, hostname)}:${found.port}` }] : [];
    });
  const mixed = listeners.some((listener) => listener.name === 'mixed' && listener.state === 'listening');
  return mixed
    ? [...at({ mixed: 'http' }), ...at({ mixed: 'socks5h' })]
    : [...at({ http: 'http' }), ...at({ socks: 'socks5h' })];
}

function hostOf(address: string, hostname: string): string {
  if (address === '0.0.0.0' || address === '::') return hostname;
  return address.includes(':') ? `[${address}]` : address;
}
