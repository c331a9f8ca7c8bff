import type { OtherNode } from '@gatehouse/contracts';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import type { Endpoint } from './link-url.js';
import { otherNode, readOptionQuery, textOption, TLS_OPTIONS, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';

/** `hysteria2://auth@host:port?…` (Hysteria 2 URI scheme), with port hopping in the authority or as `mport`. */
export const hysteria2Links: LinkCodec<OtherNode> = {
  schemes: ['hysteria2', 'hy2'],
  parse: parseHysteria2,
  format: formatHysteria2,
};

const NAMES: OptionNames = {
  ...TLS_OPTIONS,
  obfs: ['obfs'],
  'obfs-password': ['obfs-password', 'obfsParam'],
  ports: ['mport', 'ports'],
  'hop-interval': ['hop-interval', 'hopInterval'],
  up: ['up', 'upmbps'],
  down: ['down', 'downmbps'],
};

function parseHysteria2(link: string): OtherNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const { endpoint, ports } = readHoppingEndpoint(authority);
  const options = readOptionQuery(query, NAMES);
  if (options['obfs'] === 'none') delete options['obfs'];
  if (ports !== undefined) options['ports'] ??= ports;
  if (userinfo !== undefined) options['password'] = decodePercent(userinfo);
  return otherNode('hysteria2', endpoint, name, query, options);
}

/** `host:443`, `host:443,5000-6000` or `host:20000-30000`: the first port stands for the node. */
export function readHoppingEndpoint(authority: string): { endpoint: Endpoint; ports?: string } {
  const found = /^(.*):(\d+[,-][\d,-]*)\/?$/.exec(authority);
  if (found === null) return { endpoint: readEndpoint(authority, 443) };
  const ports = found[2] ?? '';
  return { endpoint: readEndpoint(`${found[1]}:${/^\d+/.exec(ports)?.[0]}`), ports };
}

function formatHysteria2(node: OtherNode): string {
  const query = writeOptionQuery(node, NAMES, ['password']);
  return joinLink('hysteria2', encodePercent(textOption(node, 'password')), node, query, node.name);
}
