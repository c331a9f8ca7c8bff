/** What a call is about, derived from its method and address alone: calls that reach no handler have one, too. */
export interface AuditTarget {
  /** Such as `subscription.create`. */
  action: string;
  resourceType: string | null;
  resourceId: string | null;
}

/** How a service's addresses name what they are about. */
export interface RestNames {
  /** The kind of resource by the first segment. */
  readonly resources: ReadonlyMap<string, string>;
  /** First segments that have operations, not members. */
  readonly withoutMembers: ReadonlySet<string>;
  /** What a member's id looks like where `POST /things/name` is an operation. Default: digits. */
  readonly memberId?: RegExp;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' };

/** What a method does unless the address says more. */
export const verbOf = (method: string): string => VERBS[method] ?? 'call';

/** @param path below the API's prefix, without a slash before it. */
export function restTarget(method: string, path: string, names: RestNames): AuditTarget {
  const verb = verbOf(method);
  const [first = '', ...rest] = segmentsOf(path);
  const type = names.resources.get(first);
  if (type === undefined) return { action: 'unknown', resourceType: null, resourceId: null };
  const changed = method === 'DELETE' || method === 'PATCH' || method === 'PUT' ? `_${verb}` : '';
  if (names.withoutMembers.has(first)) return makeTarget(type, null, rest.join('_') || verb);
  const [id, ...operation] = rest;
  const memberId = names.memberId ?? /^-?\d+$/;
  const isMember = id !== undefined && (method !== 'POST' || operation.length > 0 || memberId.test(id));
  if (isMember) {
    // `DELETE /hosts/1/cert` is not what `POST /hosts/1/cert` is.
    const part = operation.join('_');
    return makeTarget(type, decodeSegment(id), part === '' ? verb : `${part}${changed}`);
  }
  return makeTarget(type, null, rest.join('_') || (method === 'DELETE' ? 'delete_all' : verb));
}

export function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

export function makeTarget(type: string, id: string | null, verb: string): AuditTarget {
  const plain = verb.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return { action: `${type}.${plain.slice(0, 60)}`, resourceType: type, resourceId: id };
}

export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The router answers 400 to it; the log shows it as it came.
    return segment;
  }
}
