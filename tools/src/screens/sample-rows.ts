import { ApiCallError, ApiClient } from '../tour/api-client.js';
import type { App } from './console-visit.js';

type Rows = readonly (readonly [path: string, body: object])[];

const LONG = 'Example-with-a-name-that-is-a-good-deal-longer-than-most';

/** Addresses are of networks for documentation (RFC 5737): nothing is reached. */
const PROXY_ROWS: Rows = [
  ['/proxies', { name: '🇩🇪 Example Frankfurt', raw_config: 'socks5://192.0.2.1:1080' }],
  ['/proxies', { name: `🇯🇵 ${LONG}`, raw_config: 'ss://YWVzLTI1Ni1nY206ZXhhbXBsZQ@192.0.2.2:8388' }],
  [
    '/subscriptions',
    { name: 'Example provider', url: 'https://provider.example/sub?token=0123456789', enabled: false },
  ],
  ['/outbound/groups', { name: 'Example group', type: 'select', members: ['DIRECT', 'REJECT'] }],
  ['/rules', { raw: 'DOMAIN-SUFFIX,example.org,DIRECT', note: 'an example' }],
  [
    '/rule-sets',
    { name: 'example-set', type: 'inline', behavior: 'domain', entries: ['+.example.net'], target: 'REJECT' },
  ],
  ['/api-keys', { name: 'Example key', scopes: ['read'] }],
];

/** Adds rows to a console that has none, so that its lists, and the dialogs about rows, have something to show. */
export async function addSampleRows(app: App, password: string): Promise<void> {
  if (app.name === 'sharing') return; // `npm run seed:demo` has them
  const api = new ApiClient(`${app.url}/api/v1`);
  await api.login(password, app.name === 'tunnel' ? 'admin' : undefined);
  const rows = app.name === 'proxy' ? PROXY_ROWS : await tunnelRows(api, password);
  for (const [path, body] of rows) await add(api, path, body);
}

async function add(api: ApiClient, path: string, body: object): Promise<void> {
  try {
    await api.call('POST', path, body);
  } catch (error) {
    // It is there already.
    if (!(error instanceof ApiCallError && error.status === 409)) throw error;
  }
}

async function tunnelRows(api: ApiClient, password: string): Promise<Rows> {
  const { items } = await api.call<{ items: object[] }>('GET', '/clients?q=Example%20machine');
  if (items.length > 0) return [];
  const { id } = await api.call<{ id: number }>('POST', '/clients', { name: 'Example machine' });
  const target = { client_id: id, target_addr: '127.0.0.1:8080' };
  const host = await api.call<{ id: number }>('POST', '/hosts', { ...target, host: 'example.localhost' });
  return [
    ['/clients', { name: LONG, status: 0, rate_limit: 512, max_conn: 8 }],
    ['/tunnels', { ...target, mode: 'tcp', name: 'Example port', listen_port: 0 }],
    ['/tunnels', { ...target, mode: 'secret', name: LONG }],
    ['/domains', { name: 'example.org' }],
    ['/ip-rules', { scope: 'global', type: 'deny', pattern_kind: 'country', pattern: 'AQ' }],
    [
      '/auth-policies',
      { resource_type: 'host', resource_id: host.id, type: 'password', password: 'an example password' },
    ],
    ['/webhooks', { name: 'Example chat', url: 'https://chat.example/hook' }],
    ['/users', { username: 'example', role: 'user', password: 'an example password' }],
    ['/api-keys', { name: 'Example key', scopes: ['read'], current_password: password }],
  ];
}
