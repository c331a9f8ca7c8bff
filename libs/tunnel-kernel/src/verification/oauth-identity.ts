import type { VisitorOAuthClient } from '../config.js';
import { TunnelError } from '../errors.js';

/** An identity as the authorization server describes it. */
export interface Identity {
  subject: string;
  name: string | null;
  /** Only if the server has verified it; otherwise null. */
  email: string | null;
  /** From introspection (RFC 7662). */
  active: boolean;
}

type Answer = Record<string, unknown>;

/**
 * Claims of OpenID Connect Core 5.1 and RFC 7662, and what GitHub and similar services have instead. @throws
 * TunnelError `connection` if there is no identity.
 */
export function identityIn(answer: Answer): Identity {
  const subject = textOf(answer['sub']) ?? textOf(answer['id']);
  if (subject === null) throw new TunnelError('connection', 'nobody has the token');
  const name = textOf(answer['preferred_username']) ?? textOf(answer['username']) ?? textOf(answer['login']);
  // An unverified address proves nothing.
  const email = answer['email_verified'] === true ? textOf(answer['email']) : null;
  return { subject, name, email, active: answer['active'] === true };
}

/** The profile of resource-sharing is wrapped in an envelope. Its e-mail addresses are not verified. */
export function profileIn({ data }: Answer): Identity {
  const profile = typeof data === 'object' && data !== null ? (data as Answer) : {};
  return { ...identityIn({ id: profile['id'], username: profile['username'] }) };
}

/** Whether `sub` is not enough to decide who is admitted. */
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

/** Some servers use numbers as ids. */
function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}
