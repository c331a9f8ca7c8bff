import type { OtherNode } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { hostInUrl, readPort, readServer } from '../fields.js';
import { decodeBase64Text, encodeBase64Url } from '../text/base64.js';
import { decodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { LinkQuery } from './link-url.js';
import { otherNode, readOptionQuery, textOption, writeOptionQuery } from './option-query.js';
import type { OptionNames } from './option-query.js';

/** `ssr://BASE64(host:port:protocol:cipher:obfs:BASE64(password)/?…)`; parameter values are base64 as well. */
export const ssrLinks: LinkCodec<OtherNode> = { schemes: ['ssr'], parse: parseSsr, format: formatSsr };

const NAMES: OptionNames = { 'obfs-param': ['obfsparam'], 'protocol-param': ['protoparam'] };
const IN_BODY = ['cipher', 'password', 'protocol', 'obfs'];

function parseSsr(link: string): OtherNode {
  const encoded = link.slice('ssr://'.length).replace(/#.*$/, '');
  const text = decodeBase64Text(decodePercent(encoded).replace(/\/$/, ''));
  if (text === undefined) throw new FormatError('invalid_base64', 'the link is not base64 text');
  const mark = text.indexOf('?');
  const body = (mark === -1 ? text : text.slice(0, mark)).replace(/\/$/, '');
  // The host may be an IPv6 address without brackets, so the fields are counted from the end.
  const found = /^(.+):([^:]*):([^:]*):([^:]*):([^:]*):([^:]*)$/.exec(body);
  if (found === null) {
    throw new FormatError('invalid_link', 'the link does not hold host:port:protocol:cipher:obfs:password');
  }
  const [, host = '', port = '', protocol = '', cipher = '', obfs = '', password = ''] = found;
  const query = decodeValues(mark === -1 ? '' : text.slice(mark + 1));
  const options = {
    ...readOptionQuery(query, NAMES),
    protocol: withoutCompatible(protocol, 'origin'),
    cipher: cipher.toLowerCase(),
    obfs: withoutCompatible(obfs, 'plain'),
    password: decodeBase64Text(password) ?? '',
  };
  const endpoint = { server: readServer(host), port: readPort(port) };
  return otherNode('ssr', endpoint, query.get('remarks'), query, options);
}

function withoutCompatible(word: string, standard: string): string {
  return word === '' ? standard : word.replace(/_compatible$/, '');
}

/** The same query with plain values. */
function decodeValues(text: string): LinkQuery {
  const pairs = text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals === -1) return pair;
    const value = decodePercent(pair.slice(equals + 1));
    // Web forms turn `-` into `+`, and `+` into a space.
    const plain = decodeBase64Text(value.replaceAll(' ', '+')) ?? '';
    return `${pair.slice(0, equals)}=${encodeURIComponent(plain)}`;
  });
  return new LinkQuery(pairs.join('&'));
}

function formatSsr(node: OtherNode): string {
  const [cipher, password, protocol, obfs] = IN_BODY.map((option) => textOption(node, option));
  const fields = [hostInUrl(node.server), node.port, protocol, cipher, obfs, encodeBase64Url(password ?? '')];
  const query = { ...writeOptionQuery(node, NAMES, IN_BODY), remarks: node.name };
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeBase64Url(value ?? '')}`);
  return `ssr://${encodeBase64Url(`${fields.join(':')}/?${pairs.join('&')}`)}`;
}
