/** The SIP003 plugins that are built in, with their names and options in Clash. */
import type { NodeTls, NodeTransport, ShadowsocksNode } from '@gatehouse/contracts';
import { createCarrier } from '../../transport/carrier.js';
import { MuxCoolStream } from '../../transport/mux-cool.js';
import { obfuscateAsHttp } from '../../transport/obfs/http.js';
import { TlsObfsStream } from '../../transport/obfs/tls.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import type { Carrier } from '../../transport/node-server.js';

type Plugin = NonNullable<ShadowsocksNode['plugin']>;

/** Clash's default. */
const DEFAULT_HOST = 'bing.com';
const OBFS_MODES = ['http', 'tls'];

/** Why a plugin is not supported; null if it is. */
export function pluginObstacle({ name, options }: Plugin): string | null {
  const mode = text(options['mode']);
  if (name === 'obfs') return OBFS_MODES.includes(mode ?? 'http') ? null : `plugin obfs, mode ${mode}`;
  if (name !== 'v2ray-plugin') return `plugin ${name}`;
  if (options['ech-opts'] !== undefined) return 'encrypted ClientHello';
  return (mode ?? 'websocket') === 'websocket' ? null : `plugin v2ray-plugin, mode ${mode}`;
}

/** Opens streams to the server through its plugin, if it has one. Datagrams bypass the plugin. */
export function createPluginCarrier(node: ShadowsocksNode, dialer: ServerDialer): Carrier {
  const { server, port, plugin } = node;
  if (!plugin) return createCarrier({ server, port }, dialer);
  return plugin.name === 'obfs' ? obfsCarrier(node, plugin, dialer) : webSocketCarrier(node, plugin, dialer);
}

function obfsCarrier({ server, port }: ShadowsocksNode, { options }: Plugin, dialer: ServerDialer): Carrier {
  const plain = createCarrier({ server, port }, dialer);
  const host = text(options['host']) ?? DEFAULT_HOST;
  const path = text(options['path']) ?? '/';
  const asTls = options['mode'] === 'tls';
  return {
    connect: async (context) => {
      const stream = await plain.connect(context);
      return asTls ? new TlsObfsStream(stream, host) : obfuscateAsHttp(stream, { host, port, path });
    },
    close: () => plain.close(),
  };
}

function webSocketCarrier({ server, port }: ShadowsocksNode, { options }: Plugin, dialer: ServerDialer): Carrier {
  const host = text(options['host']) ?? DEFAULT_HOST;
  const path = text(options['path']) ?? '/';
  const headers = { Host: host };
  const upgrade = isOn(options['v2ray-http-upgrade']);
  const transport: NodeTransport = upgrade ? { type: 'httpupgrade', path, headers } : { type: 'ws', path, headers };
  const carrier = createCarrier({ server, port, transport, ...tlsOf(options, host) }, dialer);
  // Mux is on unless switched off, as in the plugin itself. A raw stream after an upgrade has none.
  if (upgrade || !(options['mux'] === undefined || isOn(options['mux']))) return carrier;
  return {
    connect: async (context) => new MuxCoolStream(await carrier.connect(context)),
    close: () => carrier.close(),
  };
}

function tlsOf(options: Plugin['options'], sni: string): { tls?: NodeTls } {
  if (!isOn(options['tls'])) return {};
  const fingerprint = text(options['fingerprint']);
  const skipCertVerify = isOn(options['skip-cert-verify']);
  return { tls: { sni, skipCertVerify, ...(fingerprint === undefined ? {} : { fingerprint }) } };
}

function text(option: string | boolean | undefined): string | undefined {
  return typeof option === 'string' && option !== '' ? option : undefined;
}

function isOn(option: string | boolean | undefined): boolean {
  return option !== undefined && option !== false && option !== '' && option !== '0' && option !== 'false';
}
