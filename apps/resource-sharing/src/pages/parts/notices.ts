/** What was just done, by the word in the address that a form led to. Only these words say anything. */
const NOTICES = {
  profile: 'The profile was changed.',
  password: 'The password was changed. Every other session and every authorization of applications has ended.',
  session: 'The session has ended.',
  deleted: 'The account was deleted.',
  application: 'The application was changed.',
  registered: 'The application was registered.',
  'application-removed': 'The application was removed, with its secrets and authorizations.',
  'new-secret': 'There is a new secret. The one before it holds for the time you chose.',
  secret: 'The secret has ended.',
  'new-key': 'The key was made.',
  key: 'The key has ended.',
  revoked: 'The authorization has ended.',
  shared: 'The link is shared.',
  'share-removed': 'The share was taken back.',
  share: 'The share was changed.',
  reviewed: 'The application was reviewed.',
  user: 'The account was changed.',
  points: 'The points were moved.',
  risk: 'Nothing is held against the user any more.',
  endpoint: 'The operation was switched.',
  demo: 'The demonstration is there.',
} as const;

export type Notice = keyof typeof NOTICES;

/** Undefined for any other word. */
export function noticeOf(query: unknown): string | undefined {
  const word = (query as { done?: unknown }).done;
  return typeof word === 'string' && Object.hasOwn(NOTICES, word) ? NOTICES[word as Notice] : undefined;
}

/** The address that a form leads to. */
export function done(path: string, notice: Notice): string {
  return `${path}?done=${notice}`;
}
