import { isIPv4, isIPv6 } from 'node:net';
import type { OtherNode } from '@gatehouse/contracts';
import { invalid, missing } from '../errors.js';
import { readSwitch } from '../fields.js';
import { readPins } from '../stream/fingerprint.js';
import { decodeBase64 } from '../text/base64.js';
import { ClashEntry, isRecord } from './entry.js';

export type OtherType = OtherNode['type'];

/** Options that a type requires. Of an inner list, one is enough. */
const REQUIRED: Record<OtherType, readonly (string | readonly string[])[]> = {
  ssr: ['cipher', 'password', 'protocol', 'obfs'],
  hysteria: [],
  hysteria2: ['password'],
  tuic: [['uuid', 'token']],
  wireguard: ['private-key'],
  anytls: ['password'],
  snell: ['psk'],
  ssh: ['username'],
  mieru: ['username', 'password'],
  naive: [],
  juicity: ['uuid', 'password'],
  masque: ['private-key'],
  sudoku: ['key'],
  trusttunnel: [],
  tailscale: [],
};

export function isOtherType(type: string): type is OtherType {
  return Object.hasOwn(REQUIRED, type);
}

/** Other spellings that mihomo accepts for an option. */
const ALIASES: Partial<Record<OtherType, Record<string, string>>> = {
  hysteria: {
    auth_str: 'auth-str',
    obfs_param: 'obfs-param',
    recv_window: 'recv-window',
    recv_window_conn: 'recv-window-conn',
  },
  hysteria2: { auth: 'password', 'auth-str': 'password' },
  wireguard: { 'preshared-key': 'pre-shared-key', preshared_key: 'pre-shared-key' },
};

const TEXTS = new Set(
  'password auth auth-str psk token uuid username private-key public-key pre-shared-key obfs obfs-password obfs-param protocol protocol-param cipher up down ip ipv6 sni fingerprint client-fingerprint ports port-range hop-interval ca ca-str private-key-passphrase host mode congestion-controller udp-relay-mode multiplexing transport certificate configserver name path handshake-mode'.split(
    ' ',
  ),
);
const FLAGS = new Set(
  'skip-cert-verify fast-open disable-sni reduce-rtt disable-mtu-discovery tfo mptcp enable remote-dns-resolve udp-over-stream max-open-streams-enable'.split(
    ' ',
  ),
);
const LISTS = new Set('alpn dns allowed-ips host-key host-key-algorithms reserved'.split(' '));
export const isTextOption = (option: string): boolean => TEXTS.has(option);
export const isSwitchOption = (option: string): boolean => FLAGS.has(option);
export const isListOption = (option: string): boolean => LISTS.has(option);
const OWN = new Set(['name', 'type', 'server', 'port', 'udp', 'dialer-proxy']);
const MAX_DEPTH = 6;

/** Options of a type that is only stored. A value has the same type whether it came as YAML, JSON or a link. */
export function readOtherOptions(type: OtherType, entry: ClashEntry): Record<string, unknown> {
  const aliases = ALIASES[type] ?? {};
  const options: Record<string, unknown> = {};
  for (const key of entry.keys()) {
    if (OWN.has(key)) continue;
    const name = aliases[key] ?? key;
    if (name !== key && entry.has(name)) continue;
    const value = typed(name, entry.raw(key), 0);
    if (value !== undefined) options[name] = value;
  }
  const pin = options['fingerprint'];
  if (typeof pin === 'string') options['fingerprint'] = readPins(pin) ?? pin;
  if (type === 'wireguard') {
    settleReserved(options);
    settleAddress(options, 'ip', isIPv4);
    settleAddress(options, 'ipv6', isIPv6);
  }
  checkRequired(type, options);
  return options;
}

/** Normalises the three reserved bytes of WARP, which some programs write as base64. */
function settleReserved(options: Record<string, unknown>): void {
  const list = options['reserved'];
  if (!Array.isArray(list) || list.length !== 1 || typeof list[0] !== 'string') return;
  const bytes = decodeBase64(list[0]);
  if (bytes?.length === 3) options['reserved'] = [...bytes];
}

/** Normalises an address of the interface, which some programs write with a prefix length. */
function settleAddress(options: Record<string, unknown>, key: string, fits: (text: string) => boolean): void {
  const value = options[key];
  if (value === undefined) return;
  const bare = typeof value === 'string' ? value.trim().replace(/\/\d{1,3}$/, '') : '';
  if (!fits(bare)) throw invalid(key, 'an address');
  options[key] = bare;
}

function checkRequired(type: OtherType, options: Record<string, unknown>): void {
  if (type === 'wireguard' && Array.isArray(options['peers'])) return;
  for (const need of REQUIRED[type]) {
    const keys = typeof need === 'string' ? [need] : need;
    if (!keys.some((key) => options[key] !== undefined)) throw missing(keys.join(' or '));
  }
}

/** Gives a value its type. Absent, empty and false are the same. */
function typed(key: string, value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw invalid(key, `nested at most ${MAX_DEPTH} deep`);
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  if (Array.isArray(value)) return typedList(key, value, depth);
  if (isRecord(value)) return typedMap(value, depth);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  if (LISTS.has(key)) return typedList(key, String(value).split(','), depth);
  if (FLAGS.has(key)) return readSwitch(value, key) === true ? true : undefined;
  if (TEXTS.has(key)) return String(value);
  return typeof value === 'string' ? inferred(value) : value;
}

function typedList(key: string, items: unknown[], depth: number): unknown[] | undefined {
  const list = items
    .map((item) => (isRecord(item) || Array.isArray(item) ? typed('', item, depth + 1) : listItem(key, item)))
    .filter((item) => item !== undefined && item !== '');
  return list.length === 0 ? undefined : list;
}

function listItem(key: string, item: unknown): unknown {
  if (item === null || item === undefined) return undefined;
  if (key === 'reserved') return inferred(String(item as string | number).trim());
  return String(item as string | number | boolean).trim();
}

function typedMap(value: Record<string, unknown>, depth: number): Record<string, unknown> | undefined {
  const map: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const result = key === '__proto__' ? undefined : typed(key, inner, depth + 1);
    if (result !== undefined) map[key] = result;
  }
  return Object.keys(map).length === 0 ? undefined : map;
}

/** Infers the type of an unknown option. Only texts that are formatted back to the same text become numbers. */
function inferred(text: string): string | number | boolean | undefined {
  if (text === 'true') return true;
  if (text === 'false') return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : text;
}
