import { sqlStateOf } from '@gatehouse/postgres';

/** True when a lock was not had in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03';
}
