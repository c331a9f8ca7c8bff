import type { OtherNode } from '@gatehouse/contracts';
import type { LinkCodec } from './codec.js';
import { joinLink, linkScheme, readEndpoint, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, writeOptionQuery } from './option-query.js';
import { readCredentials, writeCredentials } from './userinfo.js';

/** `naive+https://user:password@host:port?…` and `naive+quic://…`, as NaïveProxy's clients share them. */
export const naiveLinks: LinkCodec<OtherNode> = {
  schemes: ['naive+https', 'naive+quic'],
  parse: parseNaive,
  format: formatNaive,
};

const NAMES = { sni: ['sni'], 'extra-headers': ['extra-headers'] } as const;

function parseNaive(link: string): OtherNode {
  const { userinfo, authority, query, name } = splitLink(link);
  const options = { ...readOptionQuery(query, NAMES), ...readCredentials(userinfo) };
  const quic = linkScheme(link) === 'naive+quic' ? { quic: true } : {};
  return otherNode('naive', readEndpoint(authority, 443), name, query, { ...options, ...quic });
}

function formatNaive(node: OtherNode): string {
  const query = writeOptionQuery(node, NAMES, ['username', 'password', 'quic']);
  const user = writeCredentials({ username: textOption(node, 'username'), password: textOption(node, 'password') });
  return joinLink(node.options['quic'] === true ? 'naive+quic' : 'naive+https', user, node, query, node.name);
}
