import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AuditRecorder } from '@gatehouse/audit';
import { isPublicRoute } from '@gatehouse/auth';
import { RemoteProxyClients, type HttpOptions, type OperationExample } from '@gatehouse/platform';
import { SESSION_COOKIE } from './common/session-cookie-name.js';
import { TUNNEL_ERROR_TEXTS } from './error-texts.zh-CN.js';
import { ConsoleRules } from './ip-rules/console-rules.js';
import { SERVICE_VERSION } from './service-version.js';
import { ARCHIVE_PATH } from './transfer/archive/archive-body.js';
import { visitPages } from './visits/visit-pages.js';
import { additions } from './wire/openapi-additions.js';
import { tagOfRow } from './wire/row-version.js';

/** The service's HTTP interface. */
export const HTTP_OPTIONS: HttpOptions = {
  errorFormat: 'problem',
  errorTexts: TUNNEL_ERROR_TEXTS,
  globalPrefix: 'api/v1',
  compress: true,
  entityTag: tagOfRow,
  // These paths work from src and from dist.
  console: {
    folder: fileURLToPath(new URL('../../console/dist/site', import.meta.url)),
    page: 'tunnel.html',
    downloads: [fileURLToPath(new URL('../../tunnel-agent/dist/gatehouse-agent.mjs', import.meta.url))],
  },
  proxyClients: (app) => app.get<RemoteProxyClients | null>(RemoteProxyClients, { strict: false }),
  entrance: (app) => app.get(ConsoleRules, { strict: false }).entrance,
  middleware: [(app) => app.get(AuditRecorder, { strict: false }).middleware, visitPages],
  streamedPaths: [ARCHIVE_PATH],
  openapi: {
    path: '/api/v1/openapi.json',
    title: 'Tunnel Gateway',
    description: 'Exposes services behind NAT through agents and reverse-proxies domain names to them.',
    version: SERVICE_VERSION,
    cookie: SESSION_COOKIE,
    apiKeys: true,
    schemas: new URL('../contract-schemas.json', import.meta.url),
    isOpen: isPublicRoute,
    additions,
    descriptions: async () => (await import('./api-reference/operation-descriptions.js')).OPERATION_DESCRIPTIONS,
    examples: loadExamples,
  },
};

/** Recorded requests and answers; a test sends them. */
export const EXAMPLES_FILE = new URL('../openapi-examples.json', import.meta.url);

export async function loadExamples(): Promise<OperationExample[]> {
  return JSON.parse(await readFile(EXAMPLES_FILE, 'utf8')) as OperationExample[];
}
