import { sqlStateOf } from '@gatehouse/postgres';

/** True if a lock was not available in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '55P03';
}
