import { isUtf8 } from 'node:buffer';
import { hasQuantumultXSection, looksLikeQuantumultX } from './documents/quantumult-x.js';
import { looksLikeSurge } from './documents/surge.js';
import { decodeBase64 } from './text/base64.js';
import { decodeText } from './text/decode-text.js';

/** The format of a document, and its text after decoding. */
export interface Detected {
  kind: 'empty' | 'html' | 'json' | 'yaml' | 'ssd' | 'surge' | 'quantumult-x' | 'lines' | 'unknown';
  text: string;
  /** Whether the text was base64. */
  encoded: boolean;
}

const HTML = /^<(?:!doctype|html|head|body|title|meta|script|style|div|center|h\d|p\b|\?xml|!--)/i;
const CLASH_KEY = /^(?:proxies|Proxy|proxy-providers)[ \t]*:(?:[ \t\r\n]|$)/m;
const BARE_LIST = /^[ \t]*-[ \t]+(?:\{|(?:"?(?:name|type|server)"?)[ \t]*:)/m;
/** A text is a list of links only if a line begins with one. */
const LINK = /^[ \t]*[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s]/m;
const HOST_LINE =
  /^[ \t]*(?:[^:@\s]+:[^@\s]*@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*):\d{1,5}(?:[: \t\r]|$)/m;

/** A heading such as `[General]` alone on its line, which JSON cannot be. */
const SECTION = /^\[[ \t]*[A-Za-z][A-Za-z_ ]*\][ \t]*(?:\r?\n|$)/;

const LEADING_COMMENTS = /^(?:[ \t]*(?:#|;|\/\/)[^\n]*\n|\s)+/;

/** Detects the format from the content, never from the server's content type. */
export function detect(text: string, depth = 0): Detected {
  const encoded = depth > 0;
  const start = text.trimStart();
  if (start === '') return { kind: 'empty', text, encoded };
  if (HTML.test(start)) return { kind: 'html', text, encoded };
  if (start.startsWith('ssd://')) return { kind: 'ssd', text: start, encoded };
  if (SECTION.test(start.replace(LEADING_COMMENTS, '')))
    return { kind: hasQuantumultXSection(text) ? 'quantumult-x' : 'surge', text, encoded };
  if (start.startsWith('{') || (start.startsWith('[') && !HOST_LINE.test(start.slice(0, 100)))) {
    return { kind: 'json', text, encoded };
  }
  if (CLASH_KEY.test(text)) return { kind: 'yaml', text, encoded };
  if (LINK.test(text)) return { kind: 'lines', text, encoded };
  if (BARE_LIST.test(text)) return { kind: 'yaml', text, encoded };
  // Last, because `name = ...` is weak evidence.
  if (looksLikeSurge(text)) return { kind: 'surge', text, encoded };
  if (looksLikeQuantumultX(text)) return { kind: 'quantumult-x', text, encoded };
  if (HOST_LINE.test(text) || LONE_BASE64.test(text)) return { kind: 'lines', text, encoded };
  const inner = depth < MAX_DEPTH ? decodeDocument(text) : undefined;
  return inner === undefined ? { kind: 'unknown', text, encoded } : detect(inner, depth + 1);
}

/** How often base64 may be nested: some panels encode text that another panel encoded. */
const MAX_DEPTH = 2;

/** A list in which each line is base64 of its own. */
const LONE_BASE64 = /^\s*[A-Za-z0-9+/_-]{16,}={1,2}[ \t]*[\r\n]+[ \t]*[A-Za-z0-9+/_-]{16,}/;

function decodeDocument(text: string): string | undefined {
  const bytes = decodeBase64(text.trim());
  if (bytes === undefined || bytes.length === 0) return undefined;
  // Labels in another encoding must not make the whole list unreadable.
  return isUtf8(bytes) || bytes.includes('://') ? decodeText(bytes) : undefined;
}
