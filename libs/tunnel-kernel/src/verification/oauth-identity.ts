import type { VisitorOAuthClient } from '../config.js';
import { TunnelError } from '../errors.js';

/** What an authorization server says about somebody who signed in. */
export interface Identity {
  subject: string;
  name: string | null;
  /** One that the server has verified; null otherwise. */
  email: string | null;
  /** Of introspection (RFC 7662). */
  active: boolean;
}

type Answer = Record<string, unknown>;

/**
 * Claims of OpenID Connect Core 5.1 and RFC 7662, with what GitHub and its like have in their place. @throws TunnelError
 * `connection` where there is nobody.
 */
export function identityIn(answer: Answer): Identity {
  const subject = textOf(answer['sub']) ?? textOf(answer['id']);
  if (subject === null) throw new TunnelError('connection', 'nobody has the token');
  const name = textOf(answer['preferred_username']) ?? textOf(answer['username']) ?? textOf(answer['login']);
  // Anybody may say that an address is theirs.
  const email = answer['email_verified'] === true ? textOf(answer['email']) : null;
  return { subject, name, email, active: answer['active'] === true };
}

/** The profile of resource-sharing lies in an envelope. Its addresses are not verified. */
export function profileIn({ data }: Answer): Identity {
  const profile = typeof data === 'object' && data !== null ? (data as Answer) : {};
  return { ...identityIn({ id: profile['id'], username: profile['username'] }) };
}

/** Whether `sub` does not do to tell who may come in. */
export function asksMore({ names = [], emails = [] }: VisitorOAuthClient): boolean {
  return names.length + emails.length > 0;
}

export function isWelcome(client: VisitorOAuthClient, { subject, name, email }: Identity): boolean {
  const { subjects = [], names = [], emails = [] } = client;
  if (subjects.length + names.length + emails.length === 0) return true;
  const isNamed = name !== null && names.includes(name);
  const isAddressed = email !== null && emails.some((each) => each.toLowerCase() === email.toLowerCase());
  return subjects.includes(subject) || isNamed || isAddressed;
}

/** Some have numbers for ids. */
function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}
