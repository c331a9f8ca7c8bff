import { createHash, createHmac, createPublicKey, sign, type KeyObject } from 'node:crypto';

/** The public half of a P-256 key (RFC 7517), its members in the order of RFC 7638. */
export interface PublicJwk {
  crv: string;
  kty: string;
  x: string;
  y: string;
}

/** A flattened JWS (RFC 7515 7.2.2). */
export interface Jws {
  protected: string;
  payload: string;
  signature: string;
}

export interface JwsHeader {
  url: string;
  nonce?: string;
  /** The signer: an account by its URL, or a key without an account. */
  kid?: string;
  jwk?: PublicJwk;
}

export function publicJwk(key: KeyObject): PublicJwk {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty, x, y };
}

/** SHA-256 of the public key (RFC 7638), base64url. */
function thumbprint(key: KeyObject): string {
  return createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url');
}

/** The key authorization for a challenge (RFC 8555 8.1). */
export function keyAuthorization(token: string, accountKey: KeyObject): string {
  return `${token}.${thumbprint(accountKey)}`;
}

/** Signed with a P-256 key. A null payload makes the empty one of a POST-as-GET. */
export function signJws(header: JwsHeader, payload: object | null, key: KeyObject): Jws {
  const { head, body } = encoded({ alg: 'ES256', ...header }, payload);
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' });
  return { protected: head, payload: body, signature: signature.toString('base64url') };
}

/** External account binding (RFC 8555 7.3.4): `macKey` is base64url as authorities issue it. */
export function bindAccount(binding: { kid: string; macKey: string }, url: string, accountKey: KeyObject): Jws {
  const { head, body } = encoded({ alg: 'HS256', kid: binding.kid, url }, publicJwk(accountKey));
  const mac = createHmac('sha256', Buffer.from(binding.macKey, 'base64url')).update(`${head}.${body}`);
  return { protected: head, payload: body, signature: mac.digest('base64url') };
}

function encoded(header: object, payload: object | null): { head: string; body: string } {
  const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return { head: text(header), body: payload === null ? '' : text(payload) };
}
