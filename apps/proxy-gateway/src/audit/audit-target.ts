import { decodeSegment, makeTarget, restTarget, segmentsOf, verbOf, type AuditTarget } from '@gatehouse/audit';

const NAMES = {
  resources: new Map([
    ['subscriptions', 'subscription'],
    ['proxies', 'node'],
    ['rules', 'rule'],
    ['rule-sets', 'rule_set'],
    ['publications', 'publication'],
    ['publication-templates', 'publication_template'],
    ['proxy-users', 'proxy_user'],
    ['api-keys', 'api_key'],
    ['settings', 'settings'],
    ['connections', 'connection'],
    ['jobs', 'job'],
    ['countries', 'country'],
    ['auth', 'auth'],
    ['system', 'system'],
    ['kernels', 'kernel'],
  ]),
  withoutMembers: new Set(['auth', 'system', 'settings']),
};
/** Calls that ask a question and change nothing. */
const QUESTIONS = new Set([
  'POST rules/test',
  'POST subscriptions/preview',
  'POST publications/preview',
  'POST publication-templates/preview',
]);

/**
 * @param path below the API's prefix, without a leading slash.
 * @returns null for a call that is not audited.
 */
export function auditTarget(method: string, path: string): AuditTarget | null {
  const segments = segmentsOf(path);
  if (QUESTIONS.has(`${method} ${segments.join('/')}`)) return null;
  const [first, ...rest] = segments;
  if (first === 'outbound') return outboundTarget(method, rest);
  // Which profile is in force is a column beside the default policy.
  if (first === 'profiles') return makeTarget('default_policy', null, 'profile');
  return restTarget(method, path, NAMES);
}

function outboundTarget(method: string, [part, name, ...operation]: string[]): AuditTarget {
  const verb = verbOf(method);
  if (part === 'default-policy') return makeTarget('default_policy', null, verb);
  if (part !== 'groups') return makeTarget('outbound', null, part ?? verb);
  const ownVerb = method === 'PUT' ? 'switch' : verb;
  const id = name === undefined ? null : decodeSegment(name);
  return makeTarget('outbound_group', id, operation.join('_') || ownVerb);
}
