import { domainToASCII } from 'node:url';
import { RuleError } from './rule-error.js';

/** RFC 1035 2.3.4. */
export const MAX_DOMAIN_LENGTH = 253;

/** Host names have no underscores (RFC 1123), but they are in use, and rules must be able to name them. */
const DOMAIN = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Lower case and Punycode, as in a flow's host. The caller checks length and characters. */
export function toAsciiLower(text: string): string {
  // Only if needed: domainToASCII would also read `1.2.3` as the address 1.2.0.3.
  return isAscii(text) ? text.toLowerCase() : domainToASCII(text);
}

/** @throws RuleError */
export function parseDomainPayload(payload: string): string {
  const name = toAsciiLower(payload);
  if (name.length > MAX_DOMAIN_LENGTH || !DOMAIN.test(name)) {
    throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is not a domain name`);
  }
  return name;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
