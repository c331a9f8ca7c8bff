import type { TunnelUserRole } from '@gatehouse/contracts';
import type { Navigation, PageEntry } from '../shared/frame/pages.js';
import { AuditPage } from '../shared/audit/audit-page.js';
import { AccountPage } from './account/account-page.js';
import { ApiKeysPage } from './api-keys/api-keys-page.js';
import { CertificatesPage } from './certificates/certificates-page.js';
import { ClientsPage } from './clients/clients-page.js';
import { DashboardPage } from './dashboard/dashboard-page.js';
import { DevicePage } from './devices/device-page.js';
import { DomainsPage } from './domains/domains-page.js';
import { EdgesPage } from './edges/edges-page.js';
import { EventsPage } from './events/events-page.js';
import { HostsPage } from './hosts/hosts-page.js';
import { t } from './messages/index.js';
import { PoliciesPage } from './policies/policies-page.js';
import { PublishPage } from './publish/publish-page.js';
import { PublishedPage } from './publish/published-page.js';
import { RequestsPage } from './requests/requests-page.js';
import { RulesPage } from './rules/rules-page.js';
import { SessionsPage } from './sessions/sessions-page.js';
import { TrafficPage } from './traffic/traffic-page.js';
import { TransferPage } from './transfer/transfer-page.js';
import { TunnelsPage } from './tunnels/tunnels-page.js';
import { UsersPage } from './users/users-page.js';
import { WebhooksPage } from './webhooks/webhooks-page.js';

interface TunnelPageEntry extends PageEntry {
  /** Others would be refused everything on it. */
  forAdministrators?: boolean;
  /** Viewers would be refused everything on it. */
  forWriters?: boolean;
}

const PUBLISHED = { id: 'published', title: t('publishing.publishedTitle'), icon: 'shares' } as const;

const PAGES: readonly (readonly TunnelPageEntry[])[] = [
  [
    { id: '', title: t('nav.dashboard'), icon: 'dashboard', Component: DashboardPage },
    { id: 'publish', title: t('publishing.title'), icon: 'shares', Component: PublishPage, forWriters: true },
    { ...PUBLISHED, Component: PublishedPage, forWriters: true, isUnlisted: true },
  ],
  [
    { id: 'clients', title: t('nav.clients'), icon: 'nodes', Component: ClientsPage },
    { id: 'tunnels', title: t('nav.tunnels'), icon: 'connections', Component: TunnelsPage },
    { id: 'hosts', title: t('nav.hosts'), icon: 'hosts', Component: HostsPage },
    { id: 'requests', title: t('words.requests'), icon: 'logs', Component: RequestsPage, isUnlisted: true },
    { id: 'domains', title: t('nav.domains'), icon: 'hosts', Component: DomainsPage },
    { id: 'certificates', title: t('nav.certificates'), icon: 'certificates', Component: CertificatesPage },
  ],
  [
    { id: 'rules', title: t('nav.ipRules'), icon: 'rules', Component: RulesPage },
    { id: 'access', title: t('nav.access'), icon: 'access', Component: PoliciesPage },
  ],
  [
    { id: 'traffic', title: t('nav.traffic'), icon: 'traffic', Component: TrafficPage },
    { id: 'events', title: t('nav.events'), icon: 'logs', Component: EventsPage },
    { id: 'webhooks', title: t('nav.webhooks'), icon: 'subscriptions', Component: WebhooksPage },
  ],
  [
    { id: 'edges', title: t('nav.edges'), icon: 'processor', Component: EdgesPage, forAdministrators: true },
    { id: 'users', title: t('nav.users'), icon: 'users', Component: UsersPage, forAdministrators: true },
    { id: 'audit', title: t('audit.title'), icon: 'audit', Component: AuditPage, forAdministrators: true },
    { id: 'transfer', title: t('nav.transfer'), icon: 'transfer', Component: TransferPage, forAdministrators: true },
    { id: 'sessions', title: t('nav.sessions'), icon: 'system', Component: SessionsPage },
    { id: 'keys', title: t('apiKeys.title'), icon: 'keys', Component: ApiKeysPage },
    { id: 'device', title: t('devices.title'), icon: 'keys', Component: DevicePage, isUnlisted: true },
    { id: 'account', title: t('nav.account'), icon: 'account', Component: AccountPage },
  ],
];

/** Pages that a user of this role can use. */
export function navigationFor(role: TunnelUserRole): Navigation {
  return PAGES.map((group) =>
    group.filter(
      (page) =>
        (role === 'admin' || page.forAdministrators !== true) && (role !== 'viewer' || page.forWriters !== true),
    ),
  );
}
