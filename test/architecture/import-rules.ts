/**
 * Who may import whom, as `docs/architecture.md` states it: one table, read by the checker and by nobody else.
 * A package may import the workspace packages listed here, and any published package that its own package.json names.
 */
export const ALLOWED_WORKSPACE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  i18n: [],
  net: [],
  child: ['net'],
  tracing: [],
  geo: ['net'],
  postgres: ['net'],
  'subscription-formats': ['contracts'],
  'share-links': ['contracts'],
  'sharing-client': [],
  'proxy-kernel': ['net', 'geo', 'contracts'],
  'tunnel-kernel': ['net', 'i18n', 'contracts'],
  persistence: ['postgres', 'net', 'i18n', 'tracing', 'contracts'],
  platform: ['postgres', 'net', 'i18n', 'tracing', 'contracts'],
  auth: ['persistence', 'platform', 'net', 'contracts'],
  audit: ['auth', 'persistence', 'platform', 'postgres', 'contracts'],
  changes: ['auth', 'persistence', 'platform'],
  jobs: ['persistence', 'platform', 'postgres', 'i18n', 'tracing', 'contracts'],
  webhooks: ['jobs', 'persistence', 'platform', 'net', 'contracts'],
  service: ['jobs', 'persistence', 'platform', 'contracts'],
  testing: [
    'contracts',
    'i18n',
    'net',
    'geo',
    'subscription-formats',
    'share-links',
    'proxy-kernel',
    'tunnel-kernel',
    'persistence',
    'platform',
    'auth',
    'jobs',
  ],
  'proxy-gateway': [
    'service',
    'platform',
    'auth',
    'audit',
    'changes',
    'jobs',
    'persistence',
    'postgres',
    'child',
    'contracts',
    'i18n',
    'net',
    'geo',
    'proxy-kernel',
    'subscription-formats',
  ],
  'resource-sharing': [
    'service',
    'platform',
    'auth',
    'audit',
    'jobs',
    'persistence',
    'postgres',
    'contracts',
    'i18n',
    'share-links',
    'webhooks',
  ],
  'tunnel-gateway': [
    'service',
    'platform',
    'auth',
    'audit',
    'changes',
    'jobs',
    'persistence',
    'postgres',
    'child',
    'contracts',
    'i18n',
    'net',
    'geo',
    'tracing',
    'tunnel-kernel',
    'webhooks',
  ],
  'tunnel-agent': ['tunnel-kernel', 'net', 'i18n', 'contracts'],
  console: ['contracts', 'i18n'],
  tools: ['persistence', 'i18n', 'net', 'proxy-kernel', 'tunnel-kernel', 'contracts'],
};

/** Libraries that must stay free of frameworks: nothing published but what stands here. */
export const PURE_LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  i18n: ['intl-messageformat', 'negotiator'],
  net: [],
  child: [],
  tracing: [
    '@opentelemetry/api',
    '@opentelemetry/context-async-hooks',
    '@opentelemetry/core',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ],
  geo: ['@ip-location-db/geo-whois-asn-country-mmdb'],
  postgres: ['pg'],
  'proxy-kernel': ['@noble/ciphers', '@noble/hashes', 'ssh2', 'tldts'],
  'tunnel-kernel': ['undici'],
  'subscription-formats': ['yaml'],
  'share-links': [],
  'sharing-client': ['openapi-fetch'],
};

/** Data planes: what they make is within the boundary of a flow (decision 0065). Timers of `guarded` callbacks are, too. */
export const GUARDED_DATA_PLANES: readonly string[] = ['libs/proxy-kernel', 'libs/tunnel-kernel'];

/** Entries of packages beside the package itself; each is in its `exports`. */
export const FURTHER_ENTRIES: readonly string[] = [
  // Without TypeORM and Nest.
  'persistence/server',
];

/** Node's functions that make servers, sockets, sessions and requests: `@gatehouse/net` has each with the boundary. */
export const UNGUARDED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'node:dgram': ['createSocket'],
  'node:http': ['createServer', 'request', 'get'],
  'node:http2': ['connect', 'createServer', 'createSecureServer'],
  'node:https': ['createServer', 'request', 'get'],
  'node:net': ['connect', 'createConnection', 'createServer'],
  'node:tls': ['connect', 'createServer'],
};

/** Files that may read the environment: one settings file an app, and tools, which are the environment's own side. */
export function mayReadEnvironment(file: string): boolean {
  return file.endsWith('/settings.ts') || file.startsWith('tools/') || isTestFile(file);
}

/** Browser tests find labels by the texts of the apps, in either language. */
export function isCatalogueOfApp(file: string, target: string): boolean {
  return file.startsWith('test/') && /^apps\/[^/]+\/src\/(?:[^/]+\/)?messages\//.test(target);
}

/** Specs and `test/` may import `@gatehouse/testing` and root development dependencies. */
export function isTestFile(file: string): boolean {
  return (
    /\.(spec|e2e-spec)\.ts$/.test(file) ||
    file.startsWith('test/') ||
    file.startsWith('libs/testing/') ||
    /^(apps|libs)\/[^/]+\/test\//.test(file)
  );
}
