import { describe, expect, it } from 'vitest';
import { toServerConfig } from './config-mapper.js';
import type { ConfigRows, HostRow, PolicyRow, TunnelRow } from '../common/config-rows.js';

const EMPTY: ConfigRows = { revision: 7, clients: [], tunnels: [], hosts: [], ipRules: [], policies: [] };
const TUNNEL: TunnelRow = {
  id: 1,
  clientId: 2,
  mode: 'tcp',
  listenIp: '0.0.0.0',
  listenPort: 22_000,
  targetAddr: '10.0.0.1:80',
  proxyProtocol: 0,
  acceptProxyProtocol: false,
};
const HOST: HostRow = {
  id: 1,
  clientId: 2,
  host: 'a.example',
  location: '/',
  scheme: 'all',
  targetAddr: '10.0.0.1:80',
  certPath: null,
  certificate: null,
  keyPath: null,
  autoHttps: true,
  rewriteHost: null,
  requestHeaders: {},
  responseHeaders: {},
};
const POLICY: PolicyRow = {
  id: 1,
  kind: 'tunnel',
  resourceId: 1,
  type: 'password',
  password: `sha256:${'a'.repeat(64)}`,
  callbackUrl: null,
  copyHeaders: [],
  allowPrivate: false,
  oauth: null,
  sealedSecret: null,
  ttlSeconds: 60,
  version: 3,
};
const noCertificate = (): null => null;

describe('the configuration of the data plane', () => {
  it('has clients in the units of the data plane', () => {
    const client = { id: 2, userId: 3, keyHash: 'h', enabled: true, expiresAt: null, maxConnections: 4, encrypt: true };
    const { config } = toServerConfig({ ...EMPTY, clients: [{ ...client, rateLimit: 10 }] }, noCertificate);
    expect(config).toMatchObject({
      revision: 7,
      clients: [{ id: 2, userId: 3, rateLimit: 10_240, maxConnections: 4, expiresAt: null, enabled: true }],
    });
  });

  it('leaves out rows that cannot be read, with the reason', () => {
    const tunnels = [TUNNEL, { ...TUNNEL, id: 2, targetAddr: 'nowhere' }];
    const hosts = [HOST, { ...HOST, id: 3, targetAddr: 'ftp://a:1' }];
    const { config, tunnelProblems, hostProblems } = toServerConfig({ ...EMPTY, tunnels, hosts }, noCertificate);
    expect(config.tunnels.map(({ id }) => id)).toEqual([1]);
    expect(config.hosts.map(({ id }) => id)).toEqual([1]);
    expect(tunnelProblems.get(2)).toContain('needs a port');
    expect(hostProblems.get(3)).toContain('http://');
  });

  it('takes the visitor keys from the policies', () => {
    const page = { ...POLICY, id: 2, password: '$argon2id$x' };
    const rows = { ...EMPTY, tunnels: [{ ...TUNNEL, mode: 'secret' as const }], policies: [POLICY, page] };
    const { config } = toServerConfig(rows, noCertificate);
    expect(config.tunnels[0]).toMatchObject({ visitorKeyHash: 'a'.repeat(64) });
    expect(config.policies).toEqual([
      {
        id: 2,
        resource: { kind: 'tunnel', id: 1 },
        type: 'password',
        password: '$argon2id$x',
        callbackUrl: null,
        copyHeaders: [],
        allowPrivate: false,
        ttlSeconds: 60,
        version: 3,
      },
    ]);
  });

  it('redirects to https only if the same host also serves http', () => {
    const hosts = [HOST, { ...HOST, id: 2, scheme: 'http' as const }, { ...HOST, id: 3, autoHttps: false }];
    const { config } = toServerConfig({ ...EMPTY, hosts }, () => ({ chain: 'c', key: 'k' }));
    expect(config.hosts.map(({ redirectToHttps }) => redirectToHttps)).toEqual([true, false, false]);
    expect(config.hosts[0]?.certificate).toEqual({ chain: 'c', key: 'k' });
  });
});
