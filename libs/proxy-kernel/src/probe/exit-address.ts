import { isIP } from 'node:net';
import { DialError } from '../interfaces/outbound.js';
import type { ExitAddress } from '../interfaces/probe.js';

/** Fields in which services return the country's code. */
const COUNTRY_FIELDS = ['country_code', 'countryCode', 'country_iso', 'country', 'loc'];
const ADDRESS_FIELDS = ['ip', 'query', 'address'];

/**
 * Parses the answer of a service for exit addresses: Cloudflare's trace lines (`ip=`, `loc=`), a JSON object, or the
 * bare address. @throws DialError without an address.
 */
export function parseExitAddress(body: string): ExitAddress {
  const text = body.trim();
  const fields = text.startsWith('{') ? jsonFields(text) : traceFields(text);
  const ip = firstField(fields, ADDRESS_FIELDS, (value) => isIP(value) !== 0) ?? (isIP(text) ? text : null);
  if (ip === null) throw new DialError('relay', 'protocol_error', 'the service returned no address');
  return { ip, country: firstField(fields, COUNTRY_FIELDS, isCountryCode)?.toUpperCase() ?? null };
}

function firstField(
  fields: Record<string, unknown>,
  names: readonly string[],
  accepts: (value: string) => boolean,
): string | null {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === 'string' && accepts(value)) return value;
  }
  return null;
}

/** `XX` is Cloudflare's code for unknown and `T1` that for Tor. */
function isCountryCode(value: string): boolean {
  return /^[a-z]{2}$/i.test(value) && value.toUpperCase() !== 'XX';
}

function traceFields(text: string): Record<string, unknown> {
  const lines = [...text.matchAll(/^([a-z_]{1,20})=(.*)$/gm)];
  return Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value.trim()]));
}

function jsonFields(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (cause) {
    throw new DialError('relay', 'protocol_error', 'the service returned broken JSON', { cause });
  }
}
