import type { VmessNode } from '@gatehouse/contracts';
import { decodeBase64Text } from '../text/base64.js';
import { decodePercent } from '../text/percent.js';
import { FormatError } from '../errors.js';
import type { LinkCodec } from './codec.js';
import { splitLink } from './link-url.js';
import { formatVmessJson, parseVmessJson } from './vmess-json.js';
import { parseVmessRocket, parseVmessUri } from './vmess-uri.js';

/** `vmess://` links: v2rayN's base64 of JSON, which is also written, the URI form of Xray, and that of Shadowrocket. */
export const vmessLinks: LinkCodec<VmessNode> = { schemes: ['vmess'], parse: parseVmess, format: formatVmessJson };

function parseVmess(link: string): VmessNode {
  const parts = splitLink(link);
  if (parts.userinfo !== undefined) return parseVmessUri(parts);
  const text = decodeBase64Text(decodePercent(parts.authority));
  if (text === undefined) {
    throw new FormatError('invalid_base64', 'the link is neither uuid@host:port nor base64 of a known form');
  }
  return text.trimStart().startsWith('{') ? parseVmessJson(text, parts.name) : parseVmessRocket(text, parts);
}
