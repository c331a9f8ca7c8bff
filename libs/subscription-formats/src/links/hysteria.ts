import type { OtherNode } from '@gatehouse/contracts';
import type { LinkCodec } from './codec.js';
import { readHoppingEndpoint } from './hysteria2.js';
import { joinLink, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, TLS_OPTIONS, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';

/** `hysteria://host:port?…` of Hysteria 1. */
export const hysteriaLinks: LinkCodec<OtherNode> = {
  schemes: ['hysteria', 'hy'],
  parse: parseHysteria,
  format: formatHysteria,
};

const NAMES: OptionNames = {
  ...TLS_OPTIONS,
  sni: ['peer', 'sni'],
  'auth-str': ['auth', 'auth_str', 'auth-str'],
  // In links `obfs` is always `xplus`; the Clash option `obfs` is its password.
  obfs: ['obfsParam'],
  protocol: ['protocol'],
  up: ['upmbps', 'up'],
  down: ['downmbps', 'down'],
  ports: ['mport', 'ports'],
  'hop-interval': ['hop-interval'],
  'fast-open': ['fastopen'],
};

function parseHysteria(link: string): OtherNode {
  const { authority, query, name } = splitLink(link);
  const { endpoint, ports } = readHoppingEndpoint(authority);
  const options = readOptionQuery(query, NAMES);
  const obfs = query.get('obfs');
  if (obfs !== undefined && obfs !== 'xplus' && obfs !== 'none') options['obfs'] ??= obfs;
  if (ports !== undefined) options['ports'] ??= ports;
  return otherNode('hysteria', endpoint, name, query, options);
}

function formatHysteria(node: OtherNode): string {
  const query = writeOptionQuery(node, NAMES, []);
  const xplus = query['obfsParam'] === undefined ? undefined : 'xplus';
  return joinLink('hysteria', undefined, node, { ...query, obfs: xplus }, node.name);
}
