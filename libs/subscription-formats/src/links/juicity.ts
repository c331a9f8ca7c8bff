import type { OtherNode } from '@gatehouse/contracts';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import { otherNode, readOptionQuery, textOption, TLS_OPTIONS, writeOptionQuery } from './option-query.js';
import { splitCredentials } from './userinfo.js';

/** `juicity://uuid:password@host:port?…` (the link of juicity's README). */
export const juicityLinks: LinkCodec<OtherNode> = { schemes: ['juicity'], parse: parseJuicity, format: formatJuicity };

const NAMES = {
  ...TLS_OPTIONS,
  'skip-cert-verify': ['allow_insecure', 'allow-insecure', 'insecure', 'allowInsecure'],
  'congestion-controller': ['congestion_control', 'congestion-control'],
  'pinned-certchain-sha256': ['pinned_certchain_sha256'],
} as const;

function parseJuicity(link: string): OtherNode {
  const { userinfo = '', authority, query, name } = splitLink(link);
  const { username: uuid, password } = splitCredentials(decodePercent(userinfo));
  const options = { ...readOptionQuery(query, NAMES), uuid, password };
  return otherNode('juicity', readEndpoint(authority, 443), name, query, options);
}

function formatJuicity(node: OtherNode): string {
  const query = writeOptionQuery(node, NAMES, ['uuid', 'password']);
  const user = `${encodePercent(textOption(node, 'uuid'))}:${encodePercent(textOption(node, 'password'))}`;
  return joinLink('juicity', user, node, query, node.name);
}
