const SECRET_FIELD =
  /authorization|cookie|passw|passphrase|secret|token|credential|private|signature|raw_?config|share_?link|(^|[_-])key$|^pwd$/i;
/** apiKey and verifyKey, but not monkey. */
const CAMEL_KEY_FIELD = /[a-z]Key$/;
/** Names that match the pattern above but contain no secret. */
const HARMLESS_FIELD = /^(tokens?_?(count|type)|token_ttl_sec|has_.*|group_?key|job_?key|scheduler_?key)$/i;
/** The whole body of these links is a credential. */
const NODE_LINK = /\b(ss|ssr|vmess|vless|trojan|hysteria2?|hy2|tuic|anytls|wireguard|wg|snell|mieru):\/\/[^\s"'<>]+/gi;
const URL_USER = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"'<>]+@/gi;
const URL_QUERY = /\b([a-z][a-z0-9+.-]*:\/\/[^\s?#"'<>]*)\?[^\s"'<>]+/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;
const API_KEY = /\b(g[a-z]{1,4}k_)[0-9A-Za-z_-]{16,}/g;
const JWT = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g;

const HIDDEN = '***';
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_TEXT = 8_192;

/** Text with credentials in links, URL queries, Authorization values, API keys and tokens replaced by ***. */
export function redactText(text: string): string {
  let clean = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  if (clean.includes('://')) {
    clean = clean
      .replace(NODE_LINK, `$1://${HIDDEN}`)
      .replace(URL_USER, `$1${HIDDEN}@`)
      .replace(URL_QUERY, `$1?${HIDDEN}`);
  }
  if (clean.length < 20) return clean;
  return clean.replace(BEARER, `$1 ${HIDDEN}`).replace(API_KEY, `$1${HIDDEN}`).replace(JWT, HIDDEN);
}

/** A copy that is safe to log: secret fields hidden, text redacted, depth and size limited, errors flattened. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return describeError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1));
  if (value instanceof Map) return redactValue(Object.fromEntries(value), depth);
  if (value instanceof Set) return redactValue([...value], depth);
  return redactFields(value, depth);
}

/** True if a field with this name must never be logged. */
export function isSecretField(name: string): boolean {
  return (SECRET_FIELD.test(name) || CAMEL_KEY_FIELD.test(name)) && !HARMLESS_FIELD.test(name);
}

function redactFields(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value).slice(0, MAX_ITEMS)) {
    const hide = isSecretField(name) && item !== null && item !== undefined && typeof item !== 'boolean';
    copy[name] = hide ? HIDDEN : redactValue(item, depth + 1);
  }
  return copy;
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const description: Record<string, unknown> = { name: error.name, message: redactText(error.message) };
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    description['code'] = error.code;
  }
  if (error.stack !== undefined) description['stack'] = redactText(error.stack);
  if (error.cause !== undefined) description['cause'] = redactValue(error.cause, depth + 1);
  return description;
}
