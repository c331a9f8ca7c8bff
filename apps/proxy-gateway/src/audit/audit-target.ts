/** What a call is about, told from its method and address alone: calls that never reach a handler are named as well. */
export interface AuditTarget {
  /** Such as `subscription.create`. */
  action: string;
  resourceType: string | null;
  resourceId: string | null;
}

const RESOURCES: ReadonlyMap<string, string> = new Map([
  ['subscriptions', 'subscription'],
  ['proxies', 'node'],
  ['rules', 'rule'],
  ['rule-sets', 'rule_set'],
  ['api-keys', 'api_key'],
  ['settings', 'settings'],
  ['connections', 'connection'],
  ['jobs', 'job'],
  ['countries', 'country'],
  ['auth', 'auth'],
  ['system', 'system'],
]);
const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' };
/** Asks and changes nothing. */
const QUESTIONS = new Set(['POST rules/test']);
/** These have operations, not members. */
const WITHOUT_MEMBERS = new Set(['auth', 'system', 'settings']);

/** @param path below the API's prefix, without a slash before it. Null for what need not be written down. */
export function auditTarget(method: string, path: string): AuditTarget | null {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (QUESTIONS.has(`${method} ${segments.join('/')}`)) return null;
  const verb = VERBS[method] ?? 'call';
  const [first = '', ...rest] = segments;
  if (first === 'outbound') return outboundTarget(verb, method, rest);
  const type = RESOURCES.get(first);
  if (type === undefined) return { action: 'unknown', resourceType: null, resourceId: null };
  if (WITHOUT_MEMBERS.has(first)) return target(type, null, rest.join('_') || verb);
  const [id, ...operation] = rest;
  const isMember = id !== undefined && (method !== 'POST' || operation.length > 0 || /^-?\d+$/.test(id));
  if (isMember) return target(type, decode(id), operation.join('_') || verb);
  return target(type, null, rest.join('_') || (method === 'DELETE' ? 'delete_all' : verb));
}

function outboundTarget(verb: string, method: string, [part, name, ...operation]: string[]): AuditTarget {
  if (part === 'default-policy') return target('default_policy', null, verb);
  if (part !== 'groups') return target('outbound', null, part ?? verb);
  const ownVerb = method === 'PUT' ? 'switch' : verb;
  return target('outbound_group', name === undefined ? null : decode(name), operation.join('_') || ownVerb);
}

function target(type: string, id: string | null, verb: string): AuditTarget {
  const plain = verb.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return { action: `${type}.${plain.slice(0, 60)}`, resourceType: type, resourceId: id };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The router answers 400 to it; the log shows it as it came.
    return segment;
  }
}
