import type { HttpOptions } from '@gatehouse/platform';
import { AuditRecorder } from './audit/audit-recorder.js';
import { refuseForeignHosts } from './auth/host-check.js';
import { OpenAccess } from './auth/open-access.js';
import { SERVICE_VERSION } from './service-version.js';
import { ProxyGatewaySettings } from './settings.js';

/** How the API looks on the wire. */
export const HTTP_OPTIONS: HttpOptions = {
  errorFormat: 'proxy',
  globalPrefix: 'api/v1',
  middleware: [
    (app) => app.get(AuditRecorder, { strict: false }).middleware,
    (app) => {
      const access = app.get(OpenAccess, { strict: false });
      const { hosts } = app.get(ProxyGatewaySettings, { strict: false });
      return refuseForeignHosts(() => !access.loginNeeded(), hosts);
    },
  ],
  openapi: {
    path: '/api/v1/openapi.json',
    title: 'Proxy Gateway Management API',
    description: 'Nodes, subscriptions, rules, outbound policy, connections and logs of a forward proxy.',
    version: SERVICE_VERSION,
  },
};
