/** What the agent says on a terminal. Logs in JSON and the names of options do not change with the language. */
export const en = {
  status: {
    connecting: 'connecting to {server}',
    online: 'online at {server} as client {client}',
    onlineByWebSocket: 'online at {server} over a WebSocket as client {client}',
    offline: 'offline: {reason}; next attempt in {seconds} s',
    stopped: 'stopped',
    gaveUp: 'gave up: {reason}',
    error: 'error: {message}',
  },
  table: {
    mode: 'MODE',
    reachedAt: 'REACHED AT',
    is: 'IS',
    leadsTo: 'LEADS TO',
    byKey: '(by key)',
    tunnel: 'tunnel {id}',
    host: 'host {id}',
    readOnly: '{path} (read only)',
    anything: 'whatever visitors ask for',
    empty: 'nothing is set up at the gateway yet',
  },
  advice: {
    unauthorized: 'The key was changed or taken back: ask for the new one, or look whether it was copied whole.',
    server_key:
      'Another server answers at this address, or the gateway was reinstalled: check the address, then ask for a new key.',
    replaced: 'Another agent uses the same key: stop one of the two, or make a client for each.',
    version: 'Use the agent that comes with the gateway.',
    misdirected:
      'Something between here and the gateway takes the WebSocket out of its TLS and hides which process of the gateway is meant. Have it pass TLS on untouched, or speak plain HTTP to the port for HTTP of the gateway (TUNNEL_HTTP_PORT).',
    disabled:
      'The client is switched off or has expired, or a rule keeps this address out; it goes on as soon as that is changed.',
  },
  help: 'gatehouse-agent --help says more.',
} as const;
