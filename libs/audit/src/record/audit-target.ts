/**
 * The subject of a call, derived only from its method and address, so that calls without a handler have one as well.
 */
export interface AuditTarget {
  /** For example `subscription.create`. */
  action: string;
  resourceType: string | null;
  resourceId: string | null;
}

/** How the addresses of a service name their subjects. */
export interface RestNames {
  /** The kind of resource by the first segment. */
  readonly resources: ReadonlyMap<string, string>;
  /** First segments that have operations instead of members. */
  readonly withoutMembers: ReadonlySet<string>;
  /** Pattern of a member's id if `POST /things/name` is an operation. Default: digits. */
  readonly memberId?: RegExp;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' };

/** The action of a method unless the address is more specific. */
export const verbOf = (method: string): string => VERBS[method] ?? 'call';

/** @param path below the API's prefix, without a leading slash */
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
    // `DELETE /hosts/1/cert` is another action than `POST /hosts/1/cert`.
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
    // The router answers 400; the log shows the path unchanged.
    return segment;
  }
}
