const TEXTS = new Set(['issuer', 'clientId', 'scope']);
const LISTS = new Set(['subjects', 'names', 'emails']);
const ENDPOINTS = new Set(['authorizationEndpoint', 'tokenEndpoint', 'userinfoEndpoint', 'introspectionEndpoint']);
const FLAGS = new Set(['namesItself', 'isProfile']);
const MAX_TEXT = 2_048;
const MAX_LIST = 1_000;

/** Whether a value is a registration at an authorization server as policies keep it. */
export function isStoredOAuth(value: unknown): boolean {
  if (!isObject(value) || !isText(value['issuer']) || !isText(value['clientId'])) return false;
  return Object.entries(value).every(([name, each]) => {
    if (TEXTS.has(name)) return isText(each);
    if (LISTS.has(name)) return Array.isArray(each) && each.length <= MAX_LIST && each.every(isText);
    return name === 'server' && isServer(each);
  });
}

function isServer(value: unknown): boolean {
  if (!isObject(value) || !isUrl(value['authorizationEndpoint']) || !isUrl(value['tokenEndpoint'])) return false;
  return Object.entries(value).every(([name, each]) =>
    ENDPOINTS.has(name) ? isUrl(each) : FLAGS.has(name) && typeof each === 'boolean',
  );
}

function isUrl(value: unknown): boolean {
  return isText(value) && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
