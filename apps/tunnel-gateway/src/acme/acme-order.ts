import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { der } from '@gatehouse/tunnel-kernel';
import { alternativeName, bitString, ECDSA_WITH_SHA256, SEQUENCE, SET } from '../common/x509-parts.js';
import { member, unexpected, type AcmeClient, type AcmeObject } from './acme-client.js';
import { isObject, problemOf } from './acme-problem.js';
import { keyAuthorization } from './jws.js';

export const CHALLENGE_TYPES = ['http-01', 'tls-alpn-01', 'dns-01'] as const;
export type ChallengeType = (typeof CHALLENGE_TYPES)[number];

/** The answer to a challenge of an authority. */
export interface ChallengeAnswer {
  type: ChallengeType;
  name: string;
  token: string;
  keyAuthorization: string;
}

export interface OrderOptions {
  client: AcmeClient;
  accountKey: KeyObject;
  name: string;
  challenge: ChallengeType;
  /** RFC 9773 id of the certificate that is renewed. */
  replaces: string | null;
  /** Resolves when the authority can see the answer; the returned function removes it. */
  show: (answer: ChallengeAnswer) => Promise<() => Promise<void>>;
}

/** PEM texts. */
export interface IssuedCertificate {
  chain: string;
  key: string;
}

const TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

/** One certificate for one name, from the order to the chain. @throws AcmeProblem */
export async function orderCertificate(options: OrderOptions): Promise<IssuedCertificate> {
  const { client, name } = options;
  const order = await client.order(name, options.replaces);
  for (const url of addresses(order)) await prove(options, await client.read(url));
  const ready = await client.settled(await client.read(order.url), ['pending']);
  expectStatus(ready, ['ready', 'processing', 'valid']);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const csr = certificateRequest(name, privateKey).toString('base64url');
  const sent = await client.send(member(ready, 'finalize'), { csr });
  const done = await client.settled({ ...sent, url: order.url }, ['processing', 'ready']);
  expectStatus(done, ['valid']);
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return checked({ chain: await client.certificate(member(done, 'certificate')), key }, name);
}

async function prove(
  { client, accountKey, challenge: type, show }: OrderOptions,
  authorization: AcmeObject,
): Promise<void> {
  if (authorization.value['status'] === 'valid') return;
  expectStatus(authorization, ['pending']);
  const challenge = challengeOf(authorization, type);
  const token = member(challenge, 'token');
  if (!TOKEN.test(token)) throw unexpected('the token of a challenge is not one');
  const { identifier } = authorization.value;
  const name = isObject(identifier) ? String(identifier['value']) : '';
  const hide = await show({ type, name, token, keyAuthorization: keyAuthorization(token, accountKey) });
  try {
    await client.send(challenge.url, {});
    const settled = await client.settled(await client.read(authorization.url), ['pending', 'processing']);
    if (settled.value['status'] === 'valid') return;
    const failed = challengeOf(settled, type).value['error'];
    throw problemOf(
      failed ?? { type: 'unauthorized', detail: `the authorization is ${String(settled.value['status'])}` },
      null,
    );
  } finally {
    await hide();
  }
}

function challengeOf({ value }: AcmeObject, type: ChallengeType): AcmeObject {
  const all = Array.isArray(value['challenges']) ? value['challenges'].filter(isObject) : [];
  const found = all.find((challenge) => challenge['type'] === type);
  if (!found) throw unexpected(`it offers no ${type}`);
  const challenge = { url: '', value: found, retryAt: null };
  return { ...challenge, url: member(challenge, 'url') };
}

function addresses({ value }: AcmeObject): string[] {
  const all = value['authorizations'];
  if (!Array.isArray(all) || all.length > 10) throw unexpected('the order has no authorizations');
  return all.map(String);
}

function expectStatus({ value }: AcmeObject, statuses: readonly string[]): void {
  const status = String(value['status']);
  if (statuses.includes(status)) return;
  throw value['error'] === undefined ? unexpected(`the status is ${status}`) : problemOf(value['error'], null);
}

/** Checks that the certificate matches the order: a mistake of the authority must not replace a working certificate. */
function checked(issued: IssuedCertificate, name: string): IssuedCertificate {
  try {
    const leaf = new X509Certificate(issued.chain);
    // A name that the pattern matches.
    const covered = name.replace(/^\*/, 'www');
    if (leaf.checkPrivateKey(createPrivateKey(issued.key)) && leaf.checkHost(covered, { subject: 'never' }))
      return issued;
  } catch (error) {
    throw Object.assign(unexpected('what it sent is no certificate'), { cause: error });
  }
  throw unexpected('the certificate is for another key or name');
}

const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');

/** A certificate request (PKCS #10, RFC 2986) for one name, in DER, signed with its P-256 key; the subject is empty. */
function certificateRequest(name: string, key: KeyObject): Buffer {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const extensions = der(SET, der(SEQUENCE, alternativeName(name)));
  const attributes = der(0xa0, der(SEQUENCE, EXTENSION_REQUEST, extensions));
  const body = der(SEQUENCE, der(0x02, Buffer.from([0])), der(SEQUENCE), spki, attributes);
  return der(SEQUENCE, body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, key)));
}
