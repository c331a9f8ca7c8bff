export { parseAccessCode } from './access-code.js';
export { formatFullUrl, type LinkParts } from './full-url.js';
export { parseShareLink, parseShareLinks, type ParseOptions } from './parse.js';
export {
  MAX_TEXT_BYTES,
  SHARE_LINK_KINDS,
  ShareLinkError,
  type ShareLink,
  type ShareLinkErrorCode,
  type ShareLinkKind,
} from './share-link.js';
