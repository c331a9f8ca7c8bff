import type { CountryView } from './country.js';
import type { NodeView } from './node.js';
import type { GroupSwitchRecord } from './outbound.js';
import type { ItemList, Page } from './page.js';
import type { RuleSetView } from './rule-set.js';
import type { RuleView } from './rule.js';
import type { SubscriptionView } from './subscription.js';

/** `GET /proxies`. */
export type NodePage = Page<NodeView>;
/** `GET /countries`. */
export type CountryList = ItemList<CountryView>;
/** `GET /subscriptions`. */
export type SubscriptionList = ItemList<SubscriptionView>;
/** `GET /rules`: all rules, or the requested page. */
export type RuleList = ItemList<RuleView> | Page<RuleView>;
/** `GET /rule-sets`. */
export type RuleSetList = ItemList<RuleSetView>;
/** `GET /outbound/groups/{name}/history`, newest first. */
export type GroupHistory = Page<GroupSwitchRecord>;
