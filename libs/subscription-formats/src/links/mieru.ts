import type { OtherNode } from '@gatehouse/contracts';
import { missing } from '../errors.js';
import { hostInUrl, readPort, readServer } from '../fields.js';
import { encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';
import { readCredentials } from './userinfo.js';

/**
 * `mierus://user:password@host?port=…&protocol=…` (mieru simple sharing link). A link may list more ports of the same
 * server; the node has the first.
 */
export const mieruLinks: LinkCodec<OtherNode> = { schemes: ['mierus'], parse: parseMieru, format: formatMieru };

const NAMES: OptionNames = {
  transport: ['protocol'],
  multiplexing: ['multiplexing'],
  mtu: ['mtu'],
  'handshake-mode': ['handshake-mode'],
};

function parseMieru(link: string): OtherNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const places = query.get('port');
  if (places === undefined) throw missing('port');
  const options = { ...readOptionQuery(query, NAMES), ...readCredentials(userinfo) };
  const range = /^(\d+)-\d+$/.exec(places);
  const endpoint = { server: readServer(authority.replace(/:\d*$/, '')), port: readPort(range?.[1] ?? places) };
  const all = range === null ? options : { ...options, 'port-range': places };
  return otherNode('mieru', endpoint, name ?? query.get('profile'), query, all);
}

function formatMieru(node: OtherNode): string {
  const credentials = ['username', 'password'].map((option) => encodePercent(textOption(node, option))).join(':');
  const query = writeOptionQuery(node, NAMES, ['username', 'password', 'port-range']);
  const range = textOption(node, 'port-range');
  const pairs = Object.entries({ port: range === '' ? String(node.port) : range, ...query })
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodePercent(value ?? '')}`);
  return `mierus://${credentials}@${hostInUrl(node.server)}?${pairs.join('&')}#${encodePercent(node.name)}`;
}
