import { createProxyKernel } from '@gatehouse/proxy-kernel';
import type { DnsConfig } from '@gatehouse/proxy-kernel';

export interface TestNameServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as configurations name it. */
  address: string;
}

/** A name server on loopback that knows these names (Clash wildcards), and no other. */
export async function startNameServer(hosts: Record<string, string[]>): Promise<TestNameServer> {
  const silent = (): void => undefined;
  const kernel = createProxyKernel({
    now: () => Date.now(),
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    resolver: { resolve: () => Promise.reject(new Error('nobody is asked')) },
    country: () => null,
  });
  // Nobody listens on the port of the one that the rest would be asked of.
  const dns: DnsConfig = { nameservers: ['127.0.0.1:1'], hosts, listen: { address: '127.0.0.1', port: 0 } };
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    dns,
  });
  return { address: `127.0.0.1:${listeners[0]!.port}`, [Symbol.asyncDispose]: () => kernel.close() };
}
