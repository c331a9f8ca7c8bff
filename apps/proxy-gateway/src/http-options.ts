import { fileURLToPath } from 'node:url';
import { AuditRecorder } from '@gatehouse/audit';
import type { HttpOptions } from '@gatehouse/platform';
import { refuseForeignHosts } from './auth/host-check.js';
import { OpenAccess } from './auth/open-access.js';
import { refuseUnnamedLogins } from './auth/unnamed-logins.js';
import { PROXY_ERROR_TEXTS } from './error-texts.zh-CN.js';
import { KernelClients } from './kernel-process/kernel-clients.js';
import { OPENAPI } from './openapi/openapi-options.js';
import { ProxyGatewaySettings } from './settings.js';

/** How the API looks on the wire. */
export const HTTP_OPTIONS: HttpOptions = {
  errorFormat: 'proxy',
  errorTexts: PROXY_ERROR_TEXTS,
  globalPrefix: 'api/v1',
  compress: true,
  // The same place seen from src and from dist.
  console: { folder: fileURLToPath(new URL('../../console/dist/site', import.meta.url)), page: 'proxy.html' },
  proxyClients: (app) => app.get(KernelClients, { strict: false }),
  middleware: [
    (app) => app.get(AuditRecorder, { strict: false }).middleware,
    (app) => {
      const access = app.get(OpenAccess, { strict: false });
      const { hosts } = app.get(ProxyGatewaySettings, { strict: false });
      return refuseForeignHosts(() => !access.loginNeeded(), hosts);
    },
  ],
  afterBody: [() => refuseUnnamedLogins],
  openapi: OPENAPI,
};
