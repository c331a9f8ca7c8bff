import type { ShadowsocksNode } from '@gatehouse/contracts';
import { invalid } from '../errors.js';

export type ShadowsocksPlugin = NonNullable<ShadowsocksNode['plugin']>;
type Options = Record<string, string | boolean>;

const NAMES = new Map([
  ['obfs-local', 'obfs'],
  ['simple-obfs', 'obfs'],
  ['obfs', 'obfs'],
  ['v2ray', 'v2ray-plugin'],
  ['xray-plugin', 'v2ray-plugin'],
  ['gost', 'gost-plugin'],
]);

/** Reads `name;key=value;flag` (SIP003), with `\` before a literal `;`, `=` or `\`. */
export function parseSip003(text: string): ShadowsocksPlugin | undefined {
  const [name, ...pairs] = splitEscaped(text, ';');
  if (name === undefined || name.trim() === '') return undefined;
  const options: Options = {};
  for (const pair of pairs) {
    if (pair === '') continue;
    const [key, ...value] = splitEscaped(pair, '=', true);
    const option = unescape(key ?? '');
    if (option !== '' && option !== '__proto__')
      options[option] = value.length === 0 ? true : unescape(value.join('='));
  }
  return canonicalPlugin(unescape(name.trim()), options);
}

/** Gives a plugin and its options their Clash names, from either of the two dialects. */
export function canonicalPlugin(rawName: string, raw: Options): ShadowsocksPlugin {
  const name = NAMES.get(rawName.toLowerCase()) ?? rawName;
  if (name === 'obfs') return { name, options: withoutOff(obfsOptions(raw)) };
  if (name === 'v2ray-plugin' || name === 'gost-plugin') return { name, options: withoutOff(webSocketOptions(raw)) };
  return { name, options: withoutOff(raw) };
}

/** Removes flags that are off, except `mux`, which is on when absent. */
function withoutOff(options: Options): Options {
  for (const key of Object.keys(options)) if (options[key] === false && key !== 'mux') delete options[key];
  return options;
}

function obfsOptions(raw: Options): Options {
  const { obfs, mode, 'obfs-host': obfsHost, host, 'obfs-uri': uri, path, ...rest } = raw;
  const options: Options = { ...rest };
  options['mode'] = textOf(mode ?? obfs, 'plugin-opts.mode') ?? 'http';
  put(options, 'host', host ?? obfsHost);
  put(options, 'path', path ?? uri);
  return options;
}

function webSocketOptions(raw: Options): Options {
  const { obfs, mode, 'obfs-host': obfsHost, host, tls, mux, ...rest } = raw;
  const options: Options = { ...rest };
  options['mode'] = textOf(mode ?? obfs, 'plugin-opts.mode') ?? 'websocket';
  put(options, 'host', host ?? obfsHost);
  if (isOn(tls)) options['tls'] = true;
  // Both plugins multiplex by default.
  if (mux !== undefined && !isOn(mux)) options['mux'] = false;
  if (options['skip-cert-verify'] !== undefined) {
    if (isOn(options['skip-cert-verify'])) options['skip-cert-verify'] = true;
    else delete options['skip-cert-verify'];
  }
  return options;
}

function put(options: Options, key: string, value: string | boolean | undefined): void {
  if (value !== undefined && value !== '') options[key] = value;
}

function textOf(value: string | boolean | undefined, field: string): string | undefined {
  if (typeof value === 'boolean') throw invalid(field, 'a text');
  return value === '' ? undefined : value;
}

function isOn(value: string | boolean | undefined): boolean {
  return value !== undefined && value !== false && value !== '0' && value !== 'false' && value !== '';
}

/** Writes a plugin as SIP003 text, with the names that the plugins use. */
export function formatSip003(plugin: ShadowsocksPlugin): string {
  const obfs = plugin.name === 'obfs';
  const parts = [escape(obfs ? 'obfs-local' : plugin.name)];
  const keys = Object.keys(plugin.options).sort();
  for (const key of keys) {
    const value = plugin.options[key];
    const name = escape(obfs ? (OBFS_OUT[key] ?? key) : key);
    if (value === true) parts.push(name);
    else if (value === false) parts.push(`${name}=${key === 'mux' ? '0' : 'false'}`);
    else if (value !== undefined) parts.push(`${name}=${escape(value)}`);
  }
  return parts.join(';');
}

const OBFS_OUT: Record<string, string> = { mode: 'obfs', host: 'obfs-host', path: 'obfs-uri' };

function splitEscaped(text: string, separator: string, once = false): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
      if (once) break;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unescape(text: string): string {
  return text.includes('\\') ? text.replace(/\\([^])/g, '$1') : text;
}

function escape(text: string): string {
  return text.replace(/[\\;=]/g, (character) => `\\${character}`);
}
