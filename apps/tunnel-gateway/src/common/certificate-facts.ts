import type { X509Certificate } from 'node:crypto';

/** What is told of a certificate; nothing in it is secret. */
export interface CertificateFacts {
  subject: string;
  /** DNS names that it is good for. */
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

/** Whether browsers take a certificate of these names for a host: `name`, `*.name` (the same wildcard), or `*` (any). */
export function namesCover(names: readonly string[], host: string): boolean {
  if (host === '*') return true;
  const above = host.indexOf('.');
  return names.includes(host) || (above > 0 && names.includes(`*${host.slice(above)}`));
}

/** `DNS:a.example, IP Address:…` as Node puts it; names with other characters in them are quoted there, and no names of hosts. */
function dnsNames({ subjectAltName }: X509Certificate): string[] {
  const parts = (subjectAltName ?? '').split(', ');
  return parts.flatMap((part) => (/^DNS:[^"]+$/.test(part) ? [part.slice(4).toLowerCase()] : []));
}

/** Fields are on lines of their own there; an empty name has none. */
function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ');
}
