import type { Navigation } from '../shared/frame/pages.js';
import { ApiKeysPage } from './api-keys/api-keys-page.js';
import { AuditPage } from '../shared/audit/audit-page.js';
import { ConnectionsPage } from './connections/connections-page.js';
import { DashboardPage } from './dashboard/dashboard-page.js';
import { t } from './messages/index.js';
import { KernelsPage } from './kernels/kernels-page.js';
import { GroupsPage } from './groups/groups-page.js';
import { NodesPage } from './nodes/nodes-page.js';
import { PublicationsPage } from './publications/publications-page.js';
import { RulesPage } from './rules/rules-page.js';
import { RuntimeLogsPage } from './runtime-logs/runtime-logs-page.js';
import { SettingsPage } from './settings/settings-page.js';
import { SubscriptionsPage } from './subscriptions/subscriptions-page.js';
import { SystemPage } from './system/system-page.js';
import { UsersPage } from './users/users-page.js';
import { TrafficLogsPage } from './traffic-logs/traffic-logs-page.js';

const NAVIGATION: Navigation = [
  [{ id: '', title: t('nav.dashboard'), icon: 'dashboard', Component: DashboardPage }],
  [
    { id: 'nodes', title: t('nav.nodes'), icon: 'nodes', Component: NodesPage },
    { id: 'subscriptions', title: t('nav.subscriptions'), icon: 'subscriptions', Component: SubscriptionsPage },
    { id: 'groups', title: t('nav.groups'), icon: 'groups', Component: GroupsPage },
    { id: 'rules', title: t('nav.rules'), icon: 'rules', Component: RulesPage },
    { id: 'publications', title: t('publications.title'), icon: 'shares', Component: PublicationsPage },
  ],
  [
    { id: 'connections', title: t('nav.connections'), icon: 'connections', Component: ConnectionsPage },
    { id: 'traffic', title: t('nav.trafficLog'), icon: 'traffic', Component: TrafficLogsPage },
    { id: 'logs', title: t('nav.runtimeLog'), icon: 'logs', Component: RuntimeLogsPage },
    { id: 'audit', title: t('audit.title'), icon: 'audit', Component: AuditPage },
  ],
  [
    { id: 'settings', title: t('nav.settings'), icon: 'settings', Component: SettingsPage },
    { id: 'users', title: t('proxyUsers.title'), icon: 'users', Component: UsersPage },
    { id: 'keys', title: t('apiKeys.title'), icon: 'keys', Component: ApiKeysPage },
    { id: 'system', title: t('nav.system'), icon: 'system', Component: SystemPage },
  ],
];

/** @param hasKernels whether kernels run on their own, or there are several: otherwise *System* says it all. */
export function navigationFor(hasKernels: boolean): Navigation {
  const kernels = { id: 'kernels', title: t('nav.kernels'), icon: 'processor', Component: KernelsPage } as const;
  const [last = [], ...before] = [...NAVIGATION].reverse();
  return [...before.reverse(), [...last, { ...kernels, isUnlisted: !hasKernels }]];
}
