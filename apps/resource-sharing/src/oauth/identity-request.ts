import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';

/** Values of `prompt` that change something here; others are ignored (OpenID Connect Core section 3.1.2.1). */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;
type Prompt = (typeof PROMPTS)[number];

/** Added to the address of a request for the time of a login that it needs: seconds since the epoch, by the database. */
export const SIGNED_IN_AFTER = 'signed_in_after';

/** What an authorization request with `openid` says about its user (OpenID Connect Core section 3.1.2.1). */
export interface IdentityRequest {
  readonly nonce: string | undefined;
  readonly prompts: ReadonlySet<Prompt>;
  /** How old the login may be, in seconds; 0: the user has to log in for this request. */
  readonly maxAge: number | undefined;
  /** An id_token of the user who is expected; not yet verified. */
  readonly idTokenHint: string | undefined;
  readonly signedInAfter: number | undefined;
}

/** The request must not be answered by more than a redirection. */
export function isSilent(identity: IdentityRequest | undefined): boolean {
  return identity?.prompts.has('none') === true;
}

/** The user has to see the page, whatever they allowed before. */
export function mustAsk(identity: IdentityRequest | undefined): boolean {
  return identity !== undefined && (identity.prompts.has('consent') || identity.prompts.has('select_account'));
}

/** Ways of sending a request that are not supported: ignoring what they hold would change its meaning (section 6). */
export function refuseRequestObjects(parameters: OAuthParameters): void {
  for (const [name, error] of [
    ['request', 'request_not_supported'],
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
  ] as const) {
    if (parameters.optional(name) !== undefined) throw new OAuthError(error, `${name} is not supported`);
  }
}

/** @throws invalid_request */
export function readIdentityRequest(parameters: OAuthParameters): IdentityRequest {
  return {
    nonce: parameters.optional('nonce'),
    prompts: readPrompts(parameters.optional('prompt')),
    maxAge: readSeconds(parameters, 'max_age'),
    idTokenHint: parameters.optional('id_token_hint'),
    signedInAfter: readSeconds(parameters, SIGNED_IN_AFTER),
  };
}

function readPrompts(text = ''): ReadonlySet<Prompt> {
  const names = text.split(' ').filter((name) => name !== '');
  if (names.includes('none') && names.length > 1) {
    throw new OAuthError('invalid_request', 'prompt none excludes every other value');
  }
  return new Set(PROMPTS.filter((prompt) => names.includes(prompt)));
}

function readSeconds(parameters: OAuthParameters, name: string): number | undefined {
  const text = parameters.optional(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new OAuthError('invalid_request', `${name} must be a whole number of seconds`);
  return Number(text);
}
