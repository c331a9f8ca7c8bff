import { PERMISSIONS, type Permission } from '../../administration/administration.dto.js';
import type { Visitor } from '../../wire/visitor.js';

const NAMES = { 'share:manage': 'manage', 'resource:notify': 'notify' } as const;

/** What a user may do besides what every member may. */
export function permissionName({ words }: Visitor, permission: Permission): string {
  return words.text(`users.permissionNames.${NAMES[permission]}`);
}

/** All that a user has, in a row; empty if there is none. */
export function permissionNames(visitor: Visitor, permissions: readonly string[]): string {
  const known = PERMISSIONS.filter((permission) => permissions.includes(permission));
  return known.map((permission) => permissionName(visitor, permission)).join(', ');
}
