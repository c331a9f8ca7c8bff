import { defineService } from '@gatehouse/service';
import { NodeHealthEntity } from './data/node-health.entity.js';
import { NodeSourceEntity } from './data/node-source.entity.js';
import { NodeEntity } from './data/node.entity.js';
import { GroupSwitchEntity } from './data/group-switch.entity.js';
import { OutboundGroupEntity } from './data/outbound-group.entity.js';
import { OutboundPolicyEntity } from './data/outbound-policy.entity.js';
import { ProfileEntity } from './data/profile.entity.js';
import { ProxyUserEntity } from './data/proxy-user.entity.js';
import { PublicationEntity } from './data/publication.entity.js';
import { PublicationTemplateEntity } from './data/publication-template.entity.js';
import { RuleSetEntity } from './data/rule-set.entity.js';
import { Rule } from './data/rule.entity.js';
import { SubscriptionEntity } from './data/subscription.entity.js';
import { MIGRATIONS } from './migrations/index.js';
import { SERVICE_NAME, SERVICE_VERSION } from './service-version.js';
import { ProxyGatewaySettings, readSettings } from './settings.js';

export const SERVICE = defineService({
  name: SERVICE_NAME,
  settings: ProxyGatewaySettings,
  readSettings,
  database: {
    schema: 'proxy_gateway',
    entities: [
      SubscriptionEntity,
      NodeEntity,
      NodeSourceEntity,
      NodeHealthEntity,
      OutboundGroupEntity,
      GroupSwitchEntity,
      OutboundPolicyEntity,
      RuleSetEntity,
      Rule,
      ProfileEntity,
      ProxyUserEntity,
      PublicationEntity,
      PublicationTemplateEntity,
    ],
    migrations: MIGRATIONS,
    release: SERVICE_VERSION,
    sqlFolder: new URL('../data/sql/', import.meta.url),
    usedTable: 'proxy_gateway.administrators',
  },
  queues: ['subscription-refresh', 'rule-set-refresh', 'retention', 'geo-update', 'speed-test', 'country-detection'],
});
