import type { OtherNode, ProxyNode } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { checkStorable } from '../fields.js';
import { anytlsLinks } from './anytls.js';
import type { LinkCodec } from './codec.js';
import { hysteriaLinks } from './hysteria.js';
import { hysteria2Links } from './hysteria2.js';
import { juicityLinks } from './juicity.js';
import { mieruLinks } from './mieru.js';
import { naiveLinks } from './naive.js';
import { ssrLinks } from './ssr.js';
import { tuicLinks } from './tuic.js';
import { wireguardLinks } from './wireguard.js';
import { httpLinks } from './http.js';
import { linkScheme } from './link-url.js';
import { socksLinks } from './socks.js';
import { shadowsocksLinks } from './ss.js';
import { trojanLinks } from './trojan.js';
import { vlessLinks } from './vless.js';
import { vmessLinks } from './vmess.js';

type Parse = (link: string) => ProxyNode;

const PARSERS = new Map<string, Parse>();
const OTHER_CODECS: Readonly<Partial<Record<OtherNode['type'], LinkCodec<OtherNode>>>> = {
  ssr: ssrLinks,
  hysteria: hysteriaLinks,
  hysteria2: hysteria2Links,
  tuic: tuicLinks,
  wireguard: wireguardLinks,
  anytls: anytlsLinks,
  mieru: mieruLinks,
  naive: naiveLinks,
  juicity: juicityLinks,
};
for (const codec of [
  shadowsocksLinks,
  socksLinks,
  httpLinks,
  trojanLinks,
  vmessLinks,
  vlessLinks,
  ...Object.values(OTHER_CODECS),
]) {
  for (const scheme of codec.schemes) PARSERS.set(scheme, codec.parse);
}

/** Longest link that is read, in UTF-16 units. */
export const MAX_LINK_LENGTH = 65_536;

/** Reads one share link. @throws FormatError */
export function parseLink(text: string): ProxyNode {
  const link = text.trim();
  if (link.length > MAX_LINK_LENGTH) throw new FormatError('entry_too_large', 'the link is longer than 64 KiB');
  const scheme = linkScheme(link);
  if (scheme === undefined) throw new FormatError('invalid_link', 'it is not a link: scheme:// is expected');
  const parse = PARSERS.get(scheme);
  if (parse === undefined) throw new FormatError('unsupported_scheme', `${scheme}:// links are not known`);
  const node = parse(link);
  checkStorable(node);
  return node;
}

/** Writes a share link that `parseLink` reads back to an equal node. @throws FormatError `no_link_form` for types without links. */
export function formatLink(node: ProxyNode): string {
  if ('options' in node) return formatOther(node);
  switch (node.type) {
    case 'ss':
      return shadowsocksLinks.format(node);
    case 'socks5':
      return socksLinks.format(node);
    case 'http':
      return httpLinks.format(node);
    case 'trojan':
      return trojanLinks.format(node);
    case 'vmess':
      return vmessLinks.format(node);
    case 'vless':
      return vlessLinks.format(node);
  }
}

function formatOther(node: OtherNode): string {
  const codec = OTHER_CODECS[node.type];
  if (codec !== undefined) return codec.format(node);
  throw new FormatError('no_link_form', `nodes of type ${node.type} have no share link`, { field: 'type' });
}
