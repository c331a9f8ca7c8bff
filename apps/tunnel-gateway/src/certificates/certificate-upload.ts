import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { fieldError } from '../wire/field-error.js';
import { certificateFacts, namesCover } from '../common/certificate-facts.js';

export interface UploadedCertificate {
  /** PEM: the host's certificate, followed by each issuer's; without the root. */
  chain: string;
  /** PEM, PKCS #8. */
  key: string;
}

const MAX_CERTIFICATES = 10;
/** Every handshake needs a signature: one with 16,384 bits blocks all other visitors for a second. */
const MAX_RSA_BITS = 4_096;
const BLOCK =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\sA-Za-z0-9+/=]+?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/**
 * A servable certificate for `host`: parsed, complete, in order, valid at `now`. @throws AppError VALIDATION_FAILED
 * with the reason; the message contains no part of the key.
 */
export function readUpload(
  texts: { certificate: string; key: string },
  host: string,
  now: number,
): UploadedCertificate {
  const key = readKey(texts.key);
  const all = readCertificates(texts.certificate);
  const leaf = all.find((certificate) => certificate.checkPrivateKey(key));
  if (!leaf) throw fieldError('key', 'does not belong to any of the certificates');
  const chain = inOrder(leaf, all);
  for (const certificate of chain) checkTime(certificate, now);
  const { names } = certificateFacts(leaf);
  if (!namesCover(names, host)) {
    throw fieldError('certificate', `is for ${names.join(', ') || 'no names'}, not for ${host}`);
  }
  const uploaded = { chain: chain.map(String).join(''), key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
  try {
    createSecureContext({ cert: uploaded.chain, key: uploaded.key });
  } catch (error) {
    throw fieldError('certificate', 'cannot be used for TLS: its key or its signature is too weak', error);
  }
  return uploaded;
}

function readKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) throw fieldError('key', 'is protected by a password: remove it (openssl pkey)');
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    throw fieldError('key', 'is not a private key in PEM', error);
  }
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_BITS) {
    throw fieldError('key', `has more than ${MAX_RSA_BITS} bits`);
  }
  return key;
}

function readCertificates(text: string): X509Certificate[] {
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0) throw fieldError('certificate', 'has no certificate in PEM');
  if (blocks.length > MAX_CERTIFICATES)
    throw fieldError('certificate', `has more than ${MAX_CERTIFICATES} certificates`);
  const certificates = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw fieldError('certificate', `number ${index + 1} cannot be read`, error);
    }
  });
  const known = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]));
  return [...known.values()];
}

/** Sorts each certificate before its issuer. The root is left out, because clients that trust it have it. */
function inOrder(leaf: X509Certificate, all: readonly X509Certificate[]): X509Certificate[] {
  const chain = [leaf];
  for (let last = leaf; !isRoot(last);) {
    const issuer = all.find((candidate) => !chain.includes(candidate) && issued(candidate, last));
    if (!issuer) break;
    chain.push(issuer);
    last = issuer;
  }
  const stranger = all.find((certificate) => !chain.includes(certificate));
  if (stranger) {
    const subject = stranger.subject.replaceAll('\n', ', ');
    throw fieldError('certificate', `has a certificate that is not part of the chain: ${subject}`);
  }
  return chain.length > 1 ? chain.filter((certificate) => !isRoot(certificate)) : chain;
}

function issued(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isRoot(certificate: X509Certificate): boolean {
  return issued(certificate, certificate);
}

function checkTime({ validFromDate, validToDate, subject }: X509Certificate, now: number): void {
  const of = subject?.replaceAll('\n', ', ') || 'one without a subject';
  if (+validToDate <= now) throw fieldError('certificate', `ended at ${validToDate.toISOString()} (${of})`);
  if (+validFromDate > now) throw fieldError('certificate', `begins at ${validFromDate.toISOString()} (${of})`);
}
