import { NodeHealthEntity } from './data/node-health.entity.js';
import { NodeSourceEntity } from './data/node-source.entity.js';
import { NodeEntity } from './data/node.entity.js';
import { GroupSwitchEntity } from './data/group-switch.entity.js';
import { OutboundGroupEntity } from './data/outbound-group.entity.js';
import { OutboundPolicyEntity } from './data/outbound-policy.entity.js';
import { RuleSetEntity } from './data/rule-set.entity.js';
import { Rule } from './data/rule.entity.js';
import { SubscriptionEntity } from './data/subscription.entity.js';

/** Every table of the service that TypeORM maps. */
export const ENTITIES = [
  SubscriptionEntity,
  NodeEntity,
  NodeSourceEntity,
  NodeHealthEntity,
  OutboundGroupEntity,
  GroupSwitchEntity,
  OutboundPolicyEntity,
  RuleSetEntity,
  Rule,
];
