import { Authenticator, AuthPolicy, type Actor } from '@gatehouse/auth';
import { Injectable, Optional } from '@nestjs/common';
import type { Request } from 'express';

/** Decides whether an open stream may go on. An abstract class because it is also the injection token. */
export abstract class ChangePermit {
  abstract holds(actor: Actor | null, request: Request): Promise<boolean>;
}

/** Authenticates the request again: a key may have been revoked, and a token may have expired. */
@Injectable()
export class AuthenticatedPermit implements ChangePermit {
  constructor(
    private readonly authenticator: Authenticator,
    @Optional() private readonly policy?: AuthPolicy,
  ) {}

  async holds(actor: Actor | null, request: Request): Promise<boolean> {
    const now = (await this.authenticator.authenticate(request)) ?? this.policy?.openActor();
    return now !== undefined && now.credentialId === (actor?.credentialId ?? null);
  }
}
