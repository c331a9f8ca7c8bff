/** Words of the tunnel gateway's console by page. */
export const en = {
  nav: {
    dashboard: 'Dashboard',
    clients: 'Clients',
    tunnels: 'Tunnels',
    hosts: 'Hosts',
    domains: 'Domains',
    certificates: 'Certificates',
    ipRules: 'IP rules',
    access: 'Access',
    traffic: 'Traffic',
    events: 'Events',
    webhooks: 'Webhooks',
    users: 'Users',
    transfer: 'Import and export',
    sessions: 'Sessions',
    account: 'Account',
  },
  app: {
    product: 'Tunnel gateway',
    roles: { admin: 'administrator', user: 'user', viewer: 'read-only' },
  },
} as const;
