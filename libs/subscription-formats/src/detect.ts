import { isUtf8 } from 'node:buffer';
import { looksLikeSurge } from './documents/surge.js';
import { decodeBase64 } from './text/base64.js';
import { decodeText } from './text/decode-text.js';

/** What a document turns out to be, with its text decoded as far as that takes. */
export interface Detected {
  kind: 'empty' | 'html' | 'json' | 'yaml' | 'ssd' | 'surge' | 'lines' | 'unknown';
  text: string;
  /** Whether the text came out of base64. */
  encoded: boolean;
}

const HTML = /^<(?:!doctype|html|head|body|title|meta|script|style|div|center|h\d|p\b|\?xml|!--)/i;
const CLASH_KEY = /^(?:proxies|Proxy)[ \t]*:(?:[ \t\r\n]|$)/m;
const BARE_LIST = /^[ \t]*-[ \t]+(?:\{|(?:"?(?:name|type|server)"?)[ \t]*:)/m;
/** One-line entries with a link somewhere in them are lists of links only when a line begins with one. */
const LINK = /^[ \t]*[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s]/m;
const HOST_LINE =
  /^[ \t]*(?:[^:@\s]+:[^@\s]*@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*):\d{1,5}(?:[: \t\r]|$)/m;

/** A heading such as `[General]` on a line of its own, where JSON would go on. */
const SECTION = /^\[[ \t]*[A-Za-z][A-Za-z ]*\][ \t]*(?:\r?\n|$)/;

/** Finds the format by content, never by what the server called it. */
export function detect(text: string, depth = 0): Detected {
  const encoded = depth > 0;
  const start = text.trimStart();
  if (start === '') return { kind: 'empty', text, encoded };
  if (HTML.test(start)) return { kind: 'html', text, encoded };
  if (start.startsWith('ssd://')) return { kind: 'ssd', text: start, encoded };
  if (SECTION.test(start)) return { kind: 'surge', text, encoded };
  if (start.startsWith('{') || (start.startsWith('[') && !HOST_LINE.test(start.slice(0, 100)))) {
    return { kind: 'json', text, encoded };
  }
  if (CLASH_KEY.test(text)) return { kind: 'yaml', text, encoded };
  if (LINK.test(text)) return { kind: 'lines', text, encoded };
  if (BARE_LIST.test(text)) return { kind: 'yaml', text, encoded };
  // After everything else: `name = ...` says little.
  if (looksLikeSurge(text)) return { kind: 'surge', text, encoded };
  if (HOST_LINE.test(text) || LONE_BASE64.test(text)) return { kind: 'lines', text, encoded };
  const inner = depth < MAX_DEPTH ? decodeDocument(text) : undefined;
  return inner === undefined ? { kind: 'unknown', text, encoded } : detect(inner, depth + 1);
}

/** Panels behind panels encode what is base64 already. */
const MAX_DEPTH = 2;

/** A list whose every line is base64 of its own. */
const LONE_BASE64 = /^\s*[A-Za-z0-9+/_-]{16,}={1,2}[ \t]*[\r\n]+[ \t]*[A-Za-z0-9+/_-]{16,}/;

function decodeDocument(text: string): string | undefined {
  const bytes = decodeBase64(text.trim());
  if (bytes === undefined || bytes.length === 0) return undefined;
  // Labels in another encoding must not cost the whole list.
  return isUtf8(bytes) || bytes.includes('://') ? decodeText(bytes) : undefined;
}
