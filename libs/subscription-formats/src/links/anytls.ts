import type { OtherNode } from '@gatehouse/contracts';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, TLS_OPTIONS, writeOptionQuery } from './option-query.js';

/** `anytls://password@host:port?…` (AnyTLS URI scheme). */
export const anytlsLinks: LinkCodec<OtherNode> = { schemes: ['anytls'], parse: parseAnytls, format: formatAnytls };

const NAMES = { ...TLS_OPTIONS, fingerprint: ['hpkp', 'pcs'] } as const;

function parseAnytls(link: string): OtherNode {
  const { userinfo = '', authority, query, name } = splitLink(link);
  const options = { ...readOptionQuery(query, NAMES), password: decodePercent(userinfo) };
  return otherNode('anytls', readEndpoint(authority, 443), name, query, options);
}

function formatAnytls(node: OtherNode): string {
  const query = writeOptionQuery(node, NAMES, ['password']);
  return joinLink('anytls', encodePercent(textOption(node, 'password')), node, query, node.name);
}
