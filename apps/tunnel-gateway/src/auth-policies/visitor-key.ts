/** Begins the password of a policy that is the key of a private tunnel's visitors; the rest is SHA-256 of the key, hex. */
export const VISITOR_KEY_PREFIX = 'sha256:';

export function isVisitorKey(password: string | null | undefined): boolean {
  return password?.startsWith(VISITOR_KEY_PREFIX) === true;
}
