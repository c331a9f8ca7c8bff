import type { TunnelModeName } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

/** What a mode is for, and what its form needs. */
export interface TunnelModeEntry {
  label: string;
  about: string;
  /** Visitors come to a port of the gateway; without it they show a key. */
  hasPort: boolean;
  /** It may be a range of ports. Absent: one only. */
  mayHaveRange?: boolean;
  /** Targets get to know the visitor's address by a header of the PROXY protocol. */
  hasProxyProtocol: boolean;
  target: { label: string; hint: string; placeholder: string; required: boolean };
}

const PORT = {
  label: t('words.target'),
  hint: t('tunnels.targetHint'),
  placeholder: '127.0.0.1:8080',
  required: true,
};

const DESTINATIONS = {
  label: t('tunnels.destinations'),
  hint: t('tunnels.destinationsHint'),
  placeholder: '',
  required: false,
};

export const TUNNEL_MODES: Readonly<Record<TunnelModeName, TunnelModeEntry>> = {
  tcp: {
    label: t('tunnels.modes.tcp'),
    about: t('tunnels.modeHints.tcp'),
    hasPort: true,
    mayHaveRange: true,
    hasProxyProtocol: true,
    target: PORT,
  },
  udp: {
    label: t('tunnels.modes.udp'),
    about: t('tunnels.modeHints.udp'),
    hasPort: true,
    mayHaveRange: true,
    hasProxyProtocol: true,
    target: PORT,
  },
  http_proxy: {
    label: t('tunnels.modes.http_proxy'),
    about: t('tunnels.modeHints.http_proxy'),
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  socks5: {
    label: t('tunnels.modes.socks5'),
    about: t('tunnels.modeHints.socks5'),
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  mix_proxy: {
    label: t('tunnels.modes.mix_proxy'),
    about: t('tunnels.modeHints.mix_proxy'),
    hasPort: true,
    hasProxyProtocol: false,
    target: DESTINATIONS,
  },
  secret: {
    label: t('tunnels.modes.secret'),
    about: t('tunnels.modeHints.secret'),
    hasPort: false,
    hasProxyProtocol: true,
    target: PORT,
  },
  p2p: {
    label: t('tunnels.modes.p2p'),
    about: t('tunnels.modeHints.p2p'),
    hasPort: false,
    hasProxyProtocol: true,
    target: PORT,
  },
  file: {
    label: t('tunnels.modes.file'),
    about: t('tunnels.modeHints.file'),
    hasPort: true,
    hasProxyProtocol: false,
    target: {
      label: t('tunnels.folder'),
      hint: t('tunnels.folderHint'),
      placeholder: 'file:///srv/www?ro=1',
      required: true,
    },
  },
};

export const MODE_NAMES = Object.keys(TUNNEL_MODES) as TunnelModeName[];
