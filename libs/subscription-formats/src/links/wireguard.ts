import type { OtherNode } from '@gatehouse/contracts';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';

/** `wireguard://private-key@host:port?publickey=…&address=…`, the form of v2rayN and Shadowrocket. */
export const wireguardLinks: LinkCodec<OtherNode> = {
  schemes: ['wireguard', 'wg'],
  parse: parseWireguard,
  format: formatWireguard,
};

const NAMES: OptionNames = {
  'public-key': ['publickey', 'public-key'],
  'pre-shared-key': ['presharedkey', 'preshared-key', 'pre-shared-key'],
  reserved: ['reserved'],
  mtu: ['mtu'],
  'allowed-ips': ['allowedips', 'allowed-ips'],
  dns: ['dns'],
  'persistent-keepalive': ['keepalive', 'persistent-keepalive'],
};

function parseWireguard(link: string): OtherNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const options = readOptionQuery(query, NAMES);
  options['private-key'] = userinfo === undefined ? query.get('privatekey', 'private-key') : decodePercent(userinfo);
  const addresses = query.get('address', 'ip')?.split(',') ?? [];
  for (const address of addresses) {
    const bare = address
      .trim()
      .replace(/\/\d+$/, '')
      .replaceAll(/[[\]]/g, '');
    options[bare.includes(':') ? 'ipv6' : 'ip'] ??= bare;
  }
  return otherNode('wireguard', readEndpoint(authority, 51820), name, query, options);
}

function formatWireguard(node: OtherNode): string {
  const addresses = [textOption(node, 'ip'), textOption(node, 'ipv6')].filter((address) => address !== '');
  const query = writeOptionQuery(node, NAMES, ['private-key', 'ip', 'ipv6']);
  const key = encodePercent(textOption(node, 'private-key'));
  return joinLink('wireguard', key, node, { ...query, address: addresses.join(',') }, node.name);
}
