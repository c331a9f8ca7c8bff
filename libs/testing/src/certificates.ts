import { createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';

/** A certificate with its key, PEM, and what is needed to sign others with it. */
export interface MadeCertificate {
  certificate: string;
  key: string;
  privateKey: KeyObject;
  subject: string;
}

export interface CertificateWish {
  subject: string;
  /** DNS names; one that looks like an IPv4 address is one. */
  names?: string[];
  /** Absent: it signs itself. */
  issuer?: MadeCertificate;
  ca?: boolean;
  notBefore?: Date;
  notAfter?: Date;
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SIGNATURE = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));

/** Certificates as tests want them, wrong ones too. */
export function makeCertificate(wish: CertificateWish): MadeCertificate {
  const { subject, issuer, names = [], ca = false } = wish;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { notBefore = new Date(Date.now() - DAY_MS), notAfter = new Date(Date.now() + 90 * DAY_MS) } = wish;
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const extensions = [
    ...(ca ? [extension('551d13', Buffer.from('30030101ff', 'hex'), true)] : []),
    ...(names.length > 0 ? [extension('551d11', der(SEQUENCE, ...names.map(generalName)))] : []),
  ];
  const body = der(
    SEQUENCE,
    der(0xa0, Buffer.from('020102', 'hex')),
    der(0x02, Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    SIGNATURE,
    distinguishedName(issuer?.subject ?? subject),
    der(SEQUENCE, time(notBefore), time(notAfter)),
    distinguishedName(subject),
    spki,
    ...(extensions.length > 0 ? [der(0xa3, der(SEQUENCE, ...extensions))] : []),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, issuer?.privateKey ?? privateKey));
  const raw = der(SEQUENCE, body, SIGNATURE, signature);
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return { certificate: new X509Certificate(raw).toString(), key, privateKey, subject };
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  const oid = der(0x06, Buffer.from(id, 'hex'));
  return der(SEQUENCE, oid, ...(critical ? [Buffer.from('0101ff', 'hex')] : []), der(0x04, value));
}

function distinguishedName(name: string): Buffer {
  return der(SEQUENCE, der(0x31, der(SEQUENCE, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(name)))));
}

function generalName(name: string): Buffer {
  return /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));
}

/** GeneralizedTime: openssl takes it for years before 2050 too. */
function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

/** Tag, length and content of an ASN.1 value. The data plane has this, too; its library is too large to load for every test. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}
