import type { VmessNode } from '@gatehouse/contracts';
import { looksLikeSurgeLine, parseSurgeLine } from '../client-lines/surge-line.js';
import { decodeBase64Text } from '../text/base64.js';
import { decodePercent } from '../text/percent.js';
import { FormatError } from '../errors.js';
import type { LinkCodec } from './codec.js';
import { splitLink } from './link-url.js';
import { formatVmessJson, parseVmessJson } from './vmess-json.js';
import { parseVmessRocket, parseVmessUri } from './vmess-uri.js';

/** `vmess://` links: v2rayN's base64 of JSON, which is also written, the URI form of Xray, and those of Shadowrocket and Quantumult. */
export const vmessLinks: LinkCodec<VmessNode> = { schemes: ['vmess'], parse: parseVmess, format: formatVmessJson };

function parseVmess(link: string): VmessNode {
  const parts = splitLink(link);
  if (parts.userinfo !== undefined) return parseVmessUri(parts);
  const text = decodeBase64Text(decodePercent(parts.authority));
  if (text === undefined) {
    throw new FormatError('invalid_base64', 'the link is neither uuid@host:port nor base64 of a known form');
  }
  if (text.trimStart().startsWith('{')) return parseVmessJson(text, parts.name);
  return looksLikeSurgeLine(text) ? parseQuantumult(text) : parseVmessRocket(text, parts);
}

/** `BASE64(name = vmess, host, port, cipher, "uuid", obfs=…)`, the line of Quantumult in a link. */
function parseQuantumult(text: string): VmessNode {
  const node = parseSurgeLine(text);
  if (node.type !== 'vmess')
    throw new FormatError('type_mismatch', 'the link is not one of type vmess', { field: 'type' });
  return node;
}
