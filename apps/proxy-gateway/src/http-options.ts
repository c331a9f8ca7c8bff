import type { HttpOptions } from '@gatehouse/platform';
import { SERVICE_VERSION } from './service-version.js';

/** How the API looks on the wire. */
export const HTTP_OPTIONS: HttpOptions = {
  errorFormat: 'proxy',
  globalPrefix: 'api/v1',
  openapi: {
    path: '/api/v1/openapi.json',
    title: 'Proxy Gateway Management API',
    description: 'Nodes, subscriptions, rules, outbound policy, connections and logs of a forward proxy.',
    version: SERVICE_VERSION,
  },
};
