import { NodeHealthEntity } from './health/node-health.entity.js';
import { NodeSourceEntity } from './nodes/node-source.entity.js';
import { NodeEntity } from './nodes/node.entity.js';
import { GroupSwitchEntity } from './outbound/group-switch.entity.js';
import { OutboundGroupEntity } from './outbound/outbound-group.entity.js';
import { OutboundPolicyEntity } from './outbound/outbound-policy.entity.js';
import { RuleSetEntity } from './rule-sets/rule-set.entity.js';
import { Rule } from './rules/rule.entity.js';
import { SubscriptionEntity } from './subscriptions/subscription.entity.js';

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
