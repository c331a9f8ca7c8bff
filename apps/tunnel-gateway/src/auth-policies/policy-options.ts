import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import { PolicySecrets } from '../common/policy-secrets.js';
import { isAdministrator } from '../data/owned-rows.js';
import { fieldError } from '../wire/field-error.js';
import type { AuthPolicyChanges } from './auth-policy.dto.js';
import type { PolicyOptions } from '../data/auth-policy.entity.js';
import { readOAuth } from './policy-oauth.js';

type Changes<F extends keyof PolicyOptions> = { [K in F]?: PolicyOptions[K] | undefined };

/** Contains only what the request sets or implies. */
export type OptionChanges = Changes<'copyHeaders' | 'allowPrivate' | 'oauth'> & {
  /** Not sealed yet: sealing needs the policy's id, which may not exist yet. Null: none. */
  secret?: string | null | undefined;
};

/** Validates the options that have no column in the data model. */
@Injectable()
export class PolicyOptionReader {
  constructor(private readonly secrets: PolicySecrets) {}

  /** @throws AppError FORBIDDEN, VALIDATION_FAILED */
  async read(
    type: VisitorPolicyType,
    body: AuthPolicyChanges,
    before: PolicyOptions | null,
    actor: Actor,
  ): Promise<OptionChanges> {
    const { copy_headers: copyHeaders, oauth } = body;
    const allowPrivate = allowPrivateOf(body, before, actor);
    if (type !== 'oauth' || !oauth) {
      if (type === 'oauth' && !before?.oauth) throw fieldError('oauth', 'is needed');
      return { copyHeaders, allowPrivate };
    }
    const { oauth: read, secret } = await readOAuth(oauth, before, allowPrivate ?? before?.allowPrivate ?? false);
    return { copyHeaders, allowPrivate, oauth: read, secret };
  }

  /** The form in which they are stored. */
  sealed(
    policyId: number,
    { secret, ...options }: OptionChanges,
  ): Changes<'copyHeaders' | 'allowPrivate' | 'oauth' | 'sealedSecret'> {
    return { ...options, sealedSecret: typeof secret === 'string' ? this.secrets.seal(policyId, secret) : secret };
  }
}

/** A change of the server also decides whether it may be inside; undefined: unchanged. */
function allowPrivateOf(
  { allow_private: said, callback_url: url, oauth }: AuthPolicyChanges,
  before: PolicyOptions | null,
  actor: Actor,
): boolean | undefined {
  if (said === true && !isAdministrator(actor)) {
    throw new AppError(
      'FORBIDDEN',
      'allow_private: only administrators can allow addresses in the network of the gateway',
    );
  }
  if (said !== undefined) return said;
  const says = (url !== undefined && url !== null) || oauth !== undefined;
  return says ? isAdministrator(actor) && (before?.allowPrivate ?? false) : undefined;
}
