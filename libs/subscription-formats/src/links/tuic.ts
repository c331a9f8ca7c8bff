import type { OtherNode } from '@gatehouse/contracts';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, TLS_OPTIONS, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';

/** `tuic://uuid:password@host:port?…` (version 5) and `tuic://token@host:port?…` (version 4). */
export const tuicLinks: LinkCodec<OtherNode> = { schemes: ['tuic'], parse: parseTuic, format: formatTuic };

const NAMES: OptionNames = {
  ...TLS_OPTIONS,
  'skip-cert-verify': ['allow_insecure', 'allow-insecure', 'insecure', 'allowInsecure', 'skip-cert-verify'],
  'congestion-controller': ['congestion_control', 'congestion-control', 'congestion-controller'],
  'udp-relay-mode': ['udp_relay_mode', 'udp-relay-mode'],
  'disable-sni': ['disable_sni', 'disable-sni'],
  'reduce-rtt': ['reduce_rtt', 'reduce-rtt'],
  ip: ['ip'],
};

function parseTuic(link: string): OtherNode {
  const { userinfo = '', authority, query, name } = splitLink(link);
  const options = readOptionQuery(query, NAMES);
  const colon = userinfo.indexOf(':');
  if (colon === -1) options['token'] = decodePercent(userinfo);
  else {
    options['uuid'] = decodePercent(userinfo.slice(0, colon));
    options['password'] = decodePercent(userinfo.slice(colon + 1));
  }
  return otherNode('tuic', readEndpoint(authority, 443), name, query, options);
}

function formatTuic(node: OtherNode): string {
  const version4 = node.options['uuid'] === undefined;
  const query = writeOptionQuery(node, NAMES, version4 ? ['token'] : ['uuid', 'password']);
  const [first, second] = version4 ? ['token', undefined] : ['uuid', 'password'];
  const user = encodePercent(textOption(node, first));
  const userinfo = second === undefined ? user : `${user}:${encodePercent(textOption(node, second))}`;
  return joinLink('tuic', userinfo, node, query, node.name);
}
