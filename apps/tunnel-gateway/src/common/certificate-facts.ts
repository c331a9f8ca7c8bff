import type { X509Certificate } from 'node:crypto';

/** The public facts about a certificate. */
export interface CertificateFacts {
  subject: string;
  /** DNS names that it is valid for. */
  names: string[];
  issuer: string;
  notBefore: Date;
  notAfter: Date;
}

export function certificateFacts(certificate: X509Certificate): CertificateFacts {
  const { subject, issuer, validFromDate, validToDate } = certificate;
  return {
    subject: oneLine(subject),
    names: dnsNames(certificate),
    issuer: oneLine(issuer),
    notBefore: validFromDate,
    notAfter: validToDate,
  };
}

/**
 * Whether browsers accept a certificate with these names for a host: `name`, `*.name` (the same wildcard), or `*`
 * (any).
 */
export function namesCover(names: readonly string[], host: string): boolean {
  if (host === '*') return true;
  const above = host.indexOf('.');
  return names.includes(host) || (above > 0 && names.includes(`*${host.slice(above)}`));
}

/**
 * Parses Node's `DNS:a.example, IP Address:…`. Node quotes names with special characters, which cannot be host names.
 */
function dnsNames({ subjectAltName }: X509Certificate): string[] {
  const parts = (subjectAltName ?? '').split(', ');
  return parts.flatMap((part) => (/^DNS:[^"]+$/.test(part) ? [part.slice(4).toLowerCase()] : []));
}

/** Node puts each field on a line of its own; an empty name has none. */
function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ');
}
