import { SharingError } from './sharing-error.js';

export interface SignInWish {
  /** As it is registered. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** For an id_token (OpenID Connect). */
  readonly nonce?: string;
}

/** What belongs to one question to one user; never in an address, and never shown to another browser. */
export interface PendingSignIn {
  readonly redirectUri: string;
  readonly state: string;
  /** RFC 7636. */
  readonly verifier: string;
}

const RANDOM_BYTES = 32;

export function newSignIn({ redirectUri }: SignInWish): PendingSignIn {
  return { redirectUri, state: randomText(), verifier: randomText() };
}

export async function authorizationUrl(
  baseUrl: string,
  clientId: string,
  { redirectUri, scopes, nonce }: SignInWish,
  { state, verifier }: PendingSignIn,
): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
  });
  return `${baseUrl}/oauth2/authorize?${query.toString()}`;
}

/** The code. @throws SharingError if the answer is to another question, or a refusal */
export function answerOf({ searchParams }: URL, { state }: PendingSignIn, issuer: string): string {
  if (searchParams.get('state') !== state) {
    throw new SharingError({ status: 0, code: 'WRONG_STATE', message: 'This is the answer to another sign-in' });
  }
  // RFC 9207: an answer of another server must not lead its code here.
  if ((searchParams.get('iss') ?? issuer) !== issuer) {
    throw new SharingError({ status: 0, code: 'WRONG_ISSUER', message: 'This is the answer of another server' });
  }
  const refusal = searchParams.get('error');
  if (refusal !== null) {
    const message = searchParams.get('error_description') ?? refusal;
    throw new SharingError({ status: 0, code: refusal, message });
  }
  const code = searchParams.get('code');
  if (code === null) throw new SharingError({ status: 0, code: 'NO_CODE', message: 'The address has no code' });
  return code;
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
