/** What stands in place of a secret. */
export const MASK = '***';

/** Parts of names whose values are secrets; names in lower case, letters and digits only. */
const SECRET_PART =
  /token|secret|passw|passphrase|apikey|accesskey|privatekey|signature|credential|authorization|sessionid|jwt|cookie/;
const SECRET_NAME =
  /^(?:pass|pwd|key|auth|xauth|sig|sid|session|code|otp|pin|hmac|assertion|samlresponse|samlrequest)$/;
/** Fields with an address, which may carry secrets in its query. */
const ADDRESSES = new Set(['referer', 'location', 'content-location', 'refresh', 'link', 'x-original-url']);
/** A parameter of a query, a fragment or a form. */
const PARAMETER = /(^|[?&;#])([^=&;#?]+)=([^&;#?]*)/g;
/** Keys that are no secrets. */
const PLAIN_KEYS = new Set(['idempotency-key', 'sec-websocket-key', 'surrogate-key']);
/**
 * A text in JSON, and the colon behind it that makes it a name. It matches at every quotation mark, also where the end was
 * cut off, so that no text makes it begin again and again.
 */
const JSON_TEXT = /"([^"\\]*(?:\\[^][^"\\]*)*)(?:"(\s*:)?|\\?$)/g;
/** The head of a part of a form is shorter than this. */
const MAX_PART_HEAD = 2_048;

/** What a body that has no secret does not contain: it need not be looked through name by name. */
const MAY_HAVE_SECRET =
  /token|secret|passw|passphrase|key|signature|credential|auth|session|jwt|cookie|pass|pwd|sig|sid|code|otp|pin|hmac|assertion|saml|%|\\u/i;
/** Names of header fields that were looked at: there are few, and they come with every request. */
const knownFields = new Map<string, boolean>();
const MAX_KNOWN_FIELDS = 1_000;

/** Whether a field, parameter or member of this name holds a secret. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return SECRET_PART.test(plain) || SECRET_NAME.test(plain);
}

/** The value of a header field as it is kept. */
export function maskField(name: string, value: string): string {
  if (isPlainField(name)) return value;
  const lower = name.toLowerCase();
  if (lower === 'cookie') return value.split(';').map(maskCookie).join(';');
  if (lower === 'set-cookie') {
    const [pair = '', ...attributes] = value.split(';');
    return [maskCookie(pair), ...attributes].join(';');
  }
  if (lower === 'authorization' || lower === 'proxy-authorization') {
    const scheme = /^[A-Za-z0-9-]{1,32} /.exec(value);
    return scheme ? `${scheme[0]}${MASK}` : MASK;
  }
  if (isSecretName(lower) || (lower.endsWith('-key') && !PLAIN_KEYS.has(lower))) return MASK;
  return ADDRESSES.has(lower) ? maskAddress(value) : value;
}

/** Whether values of this field are never masked. */
function isPlainField(name: string): boolean {
  const known = knownFields.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const isPlain = !isSecretName(lower) && !lower.endsWith('-key') && !ADDRESSES.has(lower);
  // Visitors choose names, too.
  if (name.length <= 64 && knownFields.size < MAX_KNOWN_FIELDS) knownFields.set(name, isPlain);
  return isPlain;
}

/** An address or a target, without the secrets of its query, its fragment and its user part. */
export function maskAddress(address: string): string {
  const masked = address.includes('@') ? address.replace(/\/\/[^/?#@]*@/, `//${MASK}@`) : address;
  const at = masked.search(/[?#]/);
  return at < 0 ? masked : masked.slice(0, at) + maskParameters(masked.slice(at), 1);
}

/** The body of a message, one character for each byte. `type`: its `Content-Type`. */
export function maskBody(body: string, type: string): string {
  if (!MAY_HAVE_SECRET.test(body)) return body;
  if (/x-www-form-urlencoded/i.test(type)) return maskParameters(body, 1);
  const boundary = /^multipart\/.*\bboundary="?([^";]{1,70})/i.exec(type)?.[1];
  if (boundary !== undefined) return body.split(`--${boundary}`).map(maskFormPart).join(`--${boundary}`);
  // Many servers send JSON under another type.
  return maskJson(body);
}

/** All texts behind a secret name, up to the next name. */
function maskJson(body: string): string {
  let isSecret = false;
  return body.replaceAll(JSON_TEXT, (text: string, content: string, colon: string | undefined) => {
    if (colon === undefined) return isSecret ? `"${MASK}"` : text;
    isSecret = isSecretName(content);
    return text;
  });
}

function maskFormPart(part: string): string {
  const head = part.slice(0, part.indexOf('\r\n\r\n') + 4);
  if (head.length < 5 || head.length > MAX_PART_HEAD) return part;
  const name = /\bname="?([^"\r\n;]*)/i.exec(head)?.[1] ?? '';
  return isSecretName(name) ? `${head}${MASK}\r\n` : part;
}

/** `deeper`: how many times a value that is itself an address is looked into. */
function maskParameters(text: string, deeper: number): string {
  return text.replaceAll(PARAMETER, (parameter: string, before: string, name: string, value: string) => {
    if (value === '') return parameter;
    if (isSecretName(decoded(name)) || (deeper > 0 && hidesSecret(value, deeper))) return `${before}${name}=${MASK}`;
    return parameter;
  });
}

function hidesSecret(value: string, deeper: number): boolean {
  if (!/%3d/i.test(value)) return false;
  const inner = decoded(value);
  return maskParameters(inner, deeper - 1) !== inner;
}

function maskCookie(pair: string): string {
  const at = pair.indexOf('=');
  return at < 0 ? MASK : `${pair.slice(0, at)}=${MASK}`;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Not UTF-8: it is compared as it is.
    return text;
  }
}
