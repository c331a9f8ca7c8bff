import type { TunnelModeName } from '@gatehouse/contracts';

/** What a mode is for, and what its form needs. */
export interface TunnelModeEntry {
  label: string;
  about: string;
  /** Visitors come to a port of the gateway; without it they show a key. */
  hasPort: boolean;
  /** Targets get to know the visitor's address by a header of the PROXY protocol. */
  hasProxyProtocol: boolean;
  target: { label: string; hint: string; placeholder: string; required: boolean };
}

const PORT = {
  label: 'Target',
  hint: 'As the agent reaches it: host:port. Several with commas between take turns, by #weight=N',
  placeholder: '127.0.0.1:8080',
  required: true,
};

const DESTINATIONS = {
  label: 'Visitors may reach',
  hint: 'Such as 10.0.0.0/8:80,443 or *.corp.example; empty: all that the agent allows',
  placeholder: '',
  required: false,
};

export const TUNNEL_MODES: Readonly<Record<TunnelModeName, TunnelModeEntry>> = {
  tcp: {
    label: 'TCP port',
    about: 'A port of the gateway leads to one service: SSH, a database, a web server.',
    hasPort: true,
    hasProxyProtocol: true,
    target: PORT,
  },
  udp: {
    label: 'UDP port',
    about: 'A UDP port of the gateway leads to one service: DNS, games, WireGuard.',
    hasPort: true,
    hasProxyProtocol: true,
    target: PORT,
  },
  http_proxy: {
    label: 'HTTP proxy',
    about: 'Programs use the port as their HTTP proxy and come out where the agent is.',
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  socks5: {
    label: 'SOCKS5 proxy',
    about: 'Programs use the port as their SOCKS5 proxy and come out where the agent is.',
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  mix_proxy: {
    label: 'HTTP and SOCKS5 proxy',
    about: 'One port that is both kinds of proxy.',
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  secret: {
    label: 'Private, through the gateway',
    about: 'No public port: visitors run the agent program with a key and get a local port.',
    hasPort: false,
    hasProxyProtocol: true,
    target: PORT,
  },
  p2p: {
    label: 'Private, directly',
    about: 'As private, but visitor and agent connect to each other where their networks let them.',
    hasPort: false,
    hasProxyProtocol: true,
    target: PORT,
  },
  file: {
    label: 'Files',
    about: "A directory of the agent's machine as a web site. The agent must allow it with --allow-file-root.",
    hasPort: true,
    hasProxyProtocol: false,
    target: {
      label: 'Directory',
      hint: 'file:///srv/www?ro=1 – ro=0 lets visitors change files, strip=/web takes that away from paths',
      placeholder: 'file:///srv/www?ro=1',
      required: true,
    },
  },
};

export const MODE_NAMES = Object.keys(TUNNEL_MODES) as TunnelModeName[];
