import type { NodeTransport, ProxyNode, ProxyNodeType } from '@gatehouse/contracts';
import { fromClashEntry } from '../clash/from-entry.js';
import { toClashEntry } from '../clash/to-entry.js';
import { Unsayable } from './target.js';

type Options = Record<string, unknown>;

/** What mihomo carries besides plain TCP; it would take any other transport for plain TCP. */
export const MIHOMO_TRANSPORTS: Readonly<Partial<Record<ProxyNodeType, readonly NodeTransport['type'][]>>> = {
  vmess: ['ws', 'httpupgrade', 'grpc', 'h2', 'http'],
  vless: ['ws', 'httpupgrade', 'grpc', 'h2', 'http', 'xhttp'],
  trojan: ['ws', 'httpupgrade', 'grpc'],
};

/** Types of other programs. mihomo refuses a whole document for one entry that it does not know. */
const UNKNOWN_TYPES: ReadonlySet<string> = new Set(['naive', 'juicity']);
const SS_CIPHER =
  /^(?:none|dummy|aes-(?:128|192|256)-(?:gcm|ccm|ctr|cfb|gcm-siv)|(?:x?chacha20|x?chacha8)-ietf-poly1305|chacha20-ietf|xchacha20|chacha20|rc4-md5|2022-blake3-(?:aes-128-gcm|aes-256-gcm|chacha20-poly1305)|rabbit128-poly1305|aegis-(?:128l|256)|aez-384|lea-(?:128|192|256)-gcm|deoxys-ii-256-128|ascon(?:128|128a))$/;
const VMESS_CIPHERS = ['auto', 'none', 'zero', 'aes-128-gcm', 'chacha20-poly1305', 'aes-128-cfb'];
const PLUGINS: Readonly<Record<string, RegExp>> = {
  obfs: /^(?:http|tls)$/,
  'v2ray-plugin': /^websocket$/,
  'gost-plugin': /^websocket$/,
  'shadow-tls': /^/,
  restls: /^/,
  kcptun: /^/,
};
const SSR_PROTOCOL = /^(?:origin|auth_sha1_v4|auth_aes128_(?:md5|sha1)|auth_chain_[ab])$/;
const SSR_OBFS = /^(?:plain|http_simple|http_post|random_head|tls1\.2_ticket_(?:auth|fastauth))$/;
const SNELL_NEWEST = 3;

/** Writes an entry of `proxies:` that mihomo takes. @throws Unsayable */
export function writeClashNode(node: ProxyNode): Options {
  checkTransport(node);
  if ('options' in node) checkStored(node.type, node.options);
  if (node.type === 'ss') checkShadowsocks(node);
  if (node.type === 'vmess' && !VMESS_CIPHERS.includes(node.cipher)) throw new Unsayable('cipher');
  if (node.type === 'vless' && node.flow !== undefined && node.flow !== 'xtls-rprx-vision') throw new Unsayable('flow');
  const { 'hop-interval': interval, ...entry } = toClashEntry(node);
  // mihomo refuses the document for UDP over an older Snell.
  if (node.type === 'snell' && Number(node.options['version'] ?? 1) < SNELL_NEWEST) delete entry['udp'];
  // A range of seconds is refused by versions before 1.19.20, with the whole document; it is the client's own choice.
  return /^\d+$/.test(String(interval as string)) ? { ...entry, 'hop-interval': interval } : entry;
}

export const readClashNode = (entry: Options): ProxyNode => fromClashEntry(entry);

function checkTransport(node: ProxyNode): void {
  if ('tls' in node && node.tls?.fingerprint?.includes(',') === true) throw new Unsayable('tls.fingerprint');
  const transport = 'transport' in node ? node.transport?.type : undefined;
  if (transport !== undefined && MIHOMO_TRANSPORTS[node.type]?.includes(transport) !== true) {
    throw new Unsayable(`transport ${transport}`);
  }
}

function checkStored(type: ProxyNodeType, options: Options): void {
  if (UNKNOWN_TYPES.has(type)) throw new Unsayable(type, 'node_type');
  const pins = options['fingerprint'];
  if (typeof pins === 'string' && pins.includes(',')) throw new Unsayable('fingerprint');
  if (type === 'snell' && Number(options['version'] ?? 1) > SNELL_NEWEST) throw new Unsayable('version');
  for (const key of type === 'hysteria' ? ['up', 'down'] : []) {
    if (options[key] === undefined) throw new Unsayable(key);
  }
  if (type === 'hysteria2' && options['obfs'] !== undefined) {
    if (options['obfs'] !== 'salamander') throw new Unsayable('obfs');
    if (options['obfs-password'] === undefined) throw new Unsayable('obfs-password');
  }
  if (type !== 'ssr') return;
  if (!SSR_PROTOCOL.test(String(options['protocol']))) throw new Unsayable('protocol');
  if (!SSR_OBFS.test(String(options['obfs']))) throw new Unsayable('obfs');
}

function checkShadowsocks({ cipher, plugin }: Extract<ProxyNode, { type: 'ss' }>): void {
  if (!SS_CIPHER.test(cipher)) throw new Unsayable('cipher');
  if (plugin === undefined) return;
  const modes = Object.hasOwn(PLUGINS, plugin.name) ? PLUGINS[plugin.name] : undefined;
  if (modes?.test(String(plugin.options['mode'] ?? '')) !== true) throw new Unsayable(`plugin ${plugin.name}`);
}
