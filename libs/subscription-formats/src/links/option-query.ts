import type { OtherNode } from '@gatehouse/contracts';
import { fromClashEntry } from '../clash/from-entry.js';
import { isRecord } from '../clash/entry.js';
import { isListOption, isSwitchOption, isTextOption } from '../clash/other-options.js';
import { FormatError } from '../errors.js';
import { decodeBase64Text, encodeBase64Url } from '../text/base64.js';
import type { Endpoint, LinkQuery } from './link-url.js';
import { readExtras, writeExtras } from './stream-query.js';

type Options = Record<string, unknown>;

/** Clash option name to its names in links; the first one is written. */
export type OptionNames = Readonly<Record<string, readonly [string, ...string[]]>>;

/** TLS options, by the names that most of these links use. */
export const TLS_OPTIONS: OptionNames = {
  sni: ['sni', 'peer'],
  'skip-cert-verify': ['insecure', 'allowInsecure', 'allow_insecure', 'allow-insecure', 'skip-cert-verify'],
  alpn: ['alpn'],
  fingerprint: ['pinSHA256', 'pcs'],
  'client-fingerprint': ['fp'],
};

/** The option that links carry as one text, the configuration list. */
const ECH = 'ech-opts';

/** Parameter with all options that have no parameter of their own, as base64 of JSON. */
const REST = 'clash';

/** Reads the options of the query. */
export function readOptionQuery(query: LinkQuery, names: OptionNames): Options {
  const options: Options = readRest(query.get(REST));
  for (const [option, aliases] of Object.entries(names)) {
    const value = query.get(...aliases.map((alias) => alias.toLowerCase()));
    if (value !== undefined) options[option] = value;
  }
  const ech = query.get('ech');
  if (ech !== undefined) options[ECH] ??= { enable: true, config: ech };
  return options;
}

function readRest(encoded: string | undefined): Options {
  if (encoded === undefined) return {};
  const text = decodeBase64Text(encoded);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text ?? '');
  } catch (cause) {
    throw new FormatError('invalid_json', `${REST} must be base64 of a JSON object`, { field: REST, cause });
  }
  if (!isRecord(parsed))
    throw new FormatError('invalid_json', `${REST} must be base64 of a JSON object`, { field: REST });
  return { ...parsed };
}

/** Writes `options` except those in `elsewhere`. Options without a name or a plain text go into one parameter. */
export function writeOptionQuery(
  node: OtherNode,
  names: OptionNames,
  elsewhere: readonly string[],
): Record<string, string | undefined> {
  const query: Record<string, string | undefined> = {};
  const rest: Options = {};
  for (const [option, value] of Object.entries(node.options)) {
    if (elsewhere.includes(option)) continue;
    const ech = option === ECH ? echText(value) : undefined;
    if (ech !== undefined) {
      query['ech'] = ech;
      continue;
    }
    const [name] = names[option] ?? [];
    const text = name === undefined ? undefined : plainText(option, value);
    if (name === undefined || text === undefined) rest[option] = value;
    else query[name] = text;
  }
  if (Object.keys(rest).length > 0) query[REST] = encodeBase64Url(JSON.stringify(rest));
  return { ...query, ...writeExtras(node) };
}

/** The configuration list, if the option has nothing else. */
function echText(value: unknown): string | undefined {
  if (!isRecord(value) || value['enable'] !== true || Object.keys(value).length !== 2) return undefined;
  return typeof value['config'] === 'string' ? value['config'] : undefined;
}

/** Text that reads back to the same value, if there is one. */
function plainText(option: string, value: unknown): string | undefined {
  if (isListOption(option)) return Array.isArray(value) ? listText(value) : undefined;
  if (isSwitchOption(option)) return value === true ? '1' : undefined;
  if (isTextOption(option)) return typeof value === 'string' ? value : undefined;
  return typeof value === 'number' ? String(value) : undefined;
}

function listText(items: readonly unknown[]): string | undefined {
  const plain = items.every((item) => typeof item === 'number' || (typeof item === 'string' && !item.includes(',')));
  return plain ? items.join(',') : undefined;
}

/** Builds the node from a Clash entry, which checks its options and gives them types. */
export function otherNode(
  type: OtherNode['type'],
  endpoint: Endpoint,
  name: string | undefined,
  query: LinkQuery,
  options: Options,
): OtherNode {
  const { udp, dialerProxy } = readExtras(query);
  const node = fromClashEntry({
    ...options,
    type,
    name,
    server: endpoint.server,
    port: endpoint.port,
    udp,
    'dialer-proxy': dialerProxy,
  });
  if (node.type !== type)
    throw new FormatError('type_mismatch', `the link is not one of type ${type}`, { field: 'type' });
  return node as OtherNode;
}

/** An option that a format needs as text; empty when absent. */
export function textOption(node: OtherNode, option: string): string {
  const value = node.options[option];
  return typeof value === 'string' ? value : '';
}
