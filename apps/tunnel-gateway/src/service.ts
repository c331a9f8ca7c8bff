import { defineService } from '@gatehouse/service';
import { AddressList } from './data/address-list.entity.js';
import { ApiKeyRow } from './data/api-key.entity.js';
import { AuthPolicy, PolicyOptions } from './data/auth-policy.entity.js';
import { Client, ClientOptions } from './data/client.entity.js';
import { Domain } from './data/domain.entity.js';
import { EventRow } from './data/event.entity.js';
import { Host, HostOptions } from './data/host.entity.js';
import { IpRule, IpRuleOptions } from './data/ip-rule.entity.js';
import { SessionDetails, SessionRow } from './data/session.entity.js';
import { TrafficQuotaRow } from './data/traffic-quota.entity.js';
import { FlowStat, RequestIp } from './data/traffic.entity.js';
import { Tunnel, TunnelOptions } from './data/tunnel.entity.js';
import { User } from './data/user.entity.js';
import { Webhook, WebhookDelivery, WebhookProgress } from './data/webhook.entity.js';
import { MIGRATIONS } from './migrations/index.js';
import { SERVICE_NAME, SERVICE_VERSION } from './service-version.js';
import { readSettings, TunnelGatewaySettings } from './settings.js';

/** Contains only the tables of the data model, not even the list of migrations. */
export const MODEL_SCHEMA = 'tunnel_gateway';

export const SERVICE = defineService({
  name: SERVICE_NAME,
  settings: TunnelGatewaySettings,
  readSettings,
  database: {
    // For everything else that the service stores.
    schema: 'tunnel_gateway_ops',
    searchPath: [MODEL_SCHEMA],
    entities: [
      User,
      Client,
      ClientOptions,
      Tunnel,
      TunnelOptions,
      Host,
      HostOptions,
      Domain,
      IpRule,
      IpRuleOptions,
      AddressList,
      AuthPolicy,
      PolicyOptions,
      TrafficQuotaRow,
      FlowStat,
      RequestIp,
      EventRow,
      SessionRow,
      SessionDetails,
      ApiKeyRow,
      Webhook,
      WebhookDelivery,
      WebhookProgress,
    ],
    migrations: MIGRATIONS,
    release: SERVICE_VERSION,
    sqlFolder: new URL('../data/sql/', import.meta.url),
    usedTable: `${MODEL_SCHEMA}.users`,
  },
  queues: ['address-lists', 'certificates', 'flow-rollup', 'retention', 'webhook-fan-out', 'webhook-delivery'],
});
