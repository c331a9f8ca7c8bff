/** The folders of each package, from the ground up. A folder may import values from the layers below its own, and from no other. */
export const FOLDER_LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'apps/console': [['shared'], ['help', 'proxy', 'site', 'tunnel']],
  'apps/proxy-gateway': [
    ['common', 'data', 'geo', 'preferences', 'threads', 'wire'],
    ['auth', 'jobs', 'kernel', 'kernel-config', 'migrations', 'openapi', 'runtime-logs'],
    ['audit', 'kernel-process'],
    ['documents', 'settings-api', 'traffic'],
    ['dashboard', 'geo-updates', 'kernels', 'nodes', 'outbound'],
    ['connections', 'measuring', 'proxy-users', 'retention', 'rules', 'system'],
    ['countries', 'rule-sets'],
    ['profiles'],
    ['publications', 'subscriptions'],
    ['health'],
  ],
  'apps/resource-sharing': [
    ['api-reference', 'batches', 'data', 'messages', 'migrations', 'titles', 'wire'],
    ['audit', 'idempotency', 'mails', 'refused-calls'],
    ['credentials', 'identity', 'points'],
    ['test-mode'],
    ['check-in', 'links', 'notices', 'open-api', 'profile', 'quota', 'site', 'weekly-free'],
    ['applications', 'usage'],
    ['limits', 'oauth', 'webhooks'],
    ['mail-delivery', 'retention', 'risk'],
    ['shares'],
    ['administration', 'demo', 'subscriptions', 'unlocks'],
    ['pages'],
  ],
  'apps/tunnel-agent': [['messages', 'proxy'], ['options'], ['gateway'], ['publish', 'service', 'status']],
  'apps/tunnel-gateway': [
    ['api-reference', 'common', 'wire'],
    ['data', 'edge', 'edge-host', 'edge-supervisor'],
    ['quotas'],
    ['audit', 'auth-policies', 'domains', 'edges', 'gateway', 'ip-rules', 'retention', 'rollup', 'sessions', 'traffic'],
    ['address-lists', 'events', 'migrations', 'tunnels', 'users', 'warnings'],
    ['acme', 'auth', 'clients', 'dashboard', 'hosts', 'visits', 'webhooks'],
    ['api-keys', 'certificates', 'device-logins', 'host-requests', 'transfer'],
    ['checks'],
  ],
  'libs/audit': [['chain'], ['record', 'witness'], ['read']],
  'libs/auth': [
    ['cache', 'device-flow', 'passwords', 'preferences', 'tables', 'totp'],
    ['guard', 'keys', 'login', 'second-factor', 'sessions'],
    ['idempotency', 'tokens'],
  ],
  'libs/contracts': [['proxy-gateway', 'tunnel-gateway']],
  'libs/net': [['control', 'gcm', 'sha256', 'socks', 'websocket']],
  'libs/persistence': [['backup', 'embedded-postgres']],
  'libs/platform': [
    ['reader'],
    ['async', 'console', 'logging'],
    ['errors'],
    ['http', 'settings', 'validation'],
    ['health', 'metrics', 'openapi', 'proxy-clients', 'throttling'],
    ['service'],
  ],
  'libs/tunnel-kernel': [
    ['base', 'limits', 'messages', 'mux', 'websocket'],
    ['pages', 'recording'],
    ['vhost', 'wire'],
    ['datagrams', 'modes', 'session'],
    ['access', 'agent'],
    ['direct', 'peers', 'verification'],
    ['visitor'],
  ],
  'libs/proxy-kernel': [
    ['geo', 'interfaces'],
    ['group', 'health', 'probe', 'route', 'transport'],
    ['accounting', 'dns', 'guard', 'protocol', 'rule-set-file', 'users'],
  ],
  'libs/share-links': [['kinds']],
  'libs/subscription-formats': [
    ['text'],
    ['stream'],
    ['clash'],
    ['client-lines'],
    ['links'],
    ['documents'],
    ['profile', 'targets'],
    ['templates'],
  ],
};

/** Packages whose folders still import each other in circles. */
export const WITHOUT_LAYERS: readonly string[] = [];

/** Folders whose code runs in a process of its own: no other folder of their package imports them. */
export const PROCESS_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'apps/proxy-gateway': ['kernel'],
  'apps/tunnel-gateway': ['edge', 'edge-supervisor'],
};
