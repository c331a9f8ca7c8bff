import type { Navigation } from '../shared/frame/pages.js';
import { ApiKeysPage } from './api-keys/api-keys-page.js';
import { AuditPage } from '../shared/audit/audit-page.js';
import { ConnectionsPage } from './connections/connections-page.js';
import { DashboardPage } from './dashboard/dashboard-page.js';
import { GroupsPage } from './groups/groups-page.js';
import { NodesPage } from './nodes/nodes-page.js';
import { RulesPage } from './rules/rules-page.js';
import { RuntimeLogsPage } from './runtime-logs/runtime-logs-page.js';
import { SettingsPage } from './settings/settings-page.js';
import { SubscriptionsPage } from './subscriptions/subscriptions-page.js';
import { SystemPage } from './system/system-page.js';
import { TrafficLogsPage } from './traffic-logs/traffic-logs-page.js';

export const NAVIGATION: Navigation = [
  [{ id: '', title: 'Dashboard', icon: 'dashboard', Component: DashboardPage }],
  [
    { id: 'nodes', title: 'Nodes', icon: 'nodes', Component: NodesPage },
    { id: 'subscriptions', title: 'Subscriptions', icon: 'subscriptions', Component: SubscriptionsPage },
    { id: 'groups', title: 'Groups', icon: 'groups', Component: GroupsPage },
    { id: 'rules', title: 'Rules', icon: 'rules', Component: RulesPage },
  ],
  [
    { id: 'connections', title: 'Connections', icon: 'connections', Component: ConnectionsPage },
    { id: 'traffic', title: 'Traffic log', icon: 'traffic', Component: TrafficLogsPage },
    { id: 'logs', title: 'Runtime log', icon: 'logs', Component: RuntimeLogsPage },
    { id: 'audit', title: 'Audit log', icon: 'audit', Component: AuditPage },
  ],
  [
    { id: 'settings', title: 'Settings', icon: 'settings', Component: SettingsPage },
    { id: 'keys', title: 'API keys', icon: 'keys', Component: ApiKeysPage },
    { id: 'system', title: 'System', icon: 'system', Component: SystemPage },
  ],
];
