import { AuditRecorder } from '@gatehouse/audit';
import { RemoteProxyClients, type HttpOptions } from '@gatehouse/platform';
import { SHARING_ERROR_TEXTS } from './error-texts.zh-CN.js';
import { openApiEntry } from './limits/open-api-entry.js';
import { loadDescriptions, loadExamples } from './api-reference/reference-texts.js';
import { issuerOf } from './oauth/issuer.js';
import { ASSET_FOLDER } from './pages/parts/site-assets.js';
import { SERVICE_VERSION } from './service-version.js';
import { ResourceSharingSettings } from './settings.js';
import { SESSION_COOKIE } from './site/session-settings.js';
import { toEnvelope } from './wire/envelope.js';

/** The wire format of the service. */
export const HTTP_OPTIONS: HttpOptions = {
  errorFormat: 'envelope',
  errorTexts: SHARING_ERROR_TEXTS,
  // Token requests of RFC 6749 are forms, and so are the pages'.
  forms: true,
  // No link, name or form is larger, and token requests come from strangers.
  bodyLimit: 1_048_576,
  proxyClients: (app) => app.get<RemoteProxyClients | null>(RemoteProxyClients, { strict: false }),
  console: { folder: ASSET_FOLDER },
  middleware: [(app) => app.get(AuditRecorder, { strict: false }).middleware, openApiEntry],
  present: toEnvelope,
  openapi: {
    path: '/api/open/openapi.json',
    title: 'Resource-Sharing Open API',
    description:
      'Through this API third-party applications act for a user: quotas, resources, unlocks and shares. Public and native ' +
      'applications send `Authorization: Bearer` with the token of their user alone; others also send `X-API-Key`.',
    version: SERVICE_VERSION,
    cookie: SESSION_COOKIE,
    apiKeys: 'named',
    descriptions: loadDescriptions,
    examples: loadExamples,
    derived: [
      {
        path: '/api/open/postman.json',
        make: async (document, app) => {
          const { postmanCollection } = await import('./api-reference/postman-collection.js');
          return postmanCollection(document, issuerOf(app.get(ResourceSharingSettings)));
        },
      },
    ],
    // Calls of applications come before those of the site.
    tags: [
      { name: 'resources', description: 'Look up and unlock shares' },
      { name: 'shares', description: 'Shares of the user' },
      { name: 'subscriptions', description: 'Titles that the user subscribed to, and messages about their shares' },
      { name: 'vip', description: 'Profile, daily check-in and Premium' },
      { name: 'usage', description: 'Limits, quotas and usage of the caller' },
      { name: 'authorization', description: 'OAuth in the format of the open API: codes, tokens, revocation' },
      { name: 'oauth2', description: 'OAuth as in the RFCs: token, revocation, introspection and metadata' },
      { name: 'applications', description: 'The site: applications of a developer and their secrets' },
      { name: 'webhooks', description: 'The site: webhooks of an application' },
      { name: 'keys', description: 'The site: personal API keys' },
      { name: 'grants', description: 'The site: applications that act for the user' },
      { name: 'site', description: 'The site: account, login and sessions' },
      { name: 'administration', description: 'The site: for administrators' },
    ],
  },
};
