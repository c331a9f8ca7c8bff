/** Words of the proxy gateway's console by page. */
export const en = {
  nav: {
    dashboard: 'Dashboard',
    nodes: 'Nodes',
    subscriptions: 'Subscriptions',
    groups: 'Groups',
    rules: 'Rules',
    connections: 'Connections',
    trafficLog: 'Traffic log',
    runtimeLog: 'Runtime log',
    settings: 'Settings',
    system: 'System',
  },
  app: {
    product: 'Proxy gateway',
    loginOff: 'Login is off: everyone who can reach this address has full access.',
    password: 'Administrator password',
  },
} as const;
