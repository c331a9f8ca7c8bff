/**
 * Prefix of a policy's password that is the key for visitors of a private tunnel; the hex SHA-256 of the key follows.
 */
export const VISITOR_KEY_PREFIX = 'sha256:';

export function isVisitorKey(password: string | null | undefined): boolean {
  return password?.startsWith(VISITOR_KEY_PREFIX) === true;
}
