import { PassportStrategy } from '@nestjs/passport';
import passport from 'passport';
import type { Actor } from './actor.js';
import type { Authenticator } from './authenticator.js';
import type { HttpRequest } from './http-request.js';

/** What the guard passes on about a route. */
export interface CredentialOptions {
  /** True if the session cookie is the only accepted credential. */
  readonly cookieOnly: boolean;
}

/** Why a request has no actor: it has no credential, or one that is not valid. */
export type CredentialFailure = 'none' | 'invalid';

type Decided = (error: unknown, actor: Actor | false | null, failure?: CredentialFailure) => void;
type Verify = (request: HttpRequest, options: CredentialOptions, decided: Decided) => void;

/** A Passport strategy whose decision is made by a function. */
class VerifyStrategy extends passport.Strategy {
  override readonly name: string;
  private readonly verify: Verify;

  constructor(name: string, verify: Verify) {
    super();
    this.name = name;
    this.verify = verify;
  }

  override authenticate(request: unknown, options: CredentialOptions): void {
    this.verify(request as HttpRequest, options, (error, actor, failure) => {
      if (error !== null) this.error(error);
      else if (actor === false || actor === null) this.fail(failure);
      else this.success(actor);
    });
  }
}

let made = 0;

/** All credentials of a service: tokens, API keys, sessions and the session cookie. */
export class CredentialsStrategy extends PassportStrategy(VerifyStrategy) {
  private readonly authenticator: Authenticator;

  constructor(authenticator: Authenticator) {
    // Passport has one registry for the whole process, so applications that share it use separate names.
    super(`credentials ${++made}`);
    this.authenticator = authenticator;
  }

  async validate(request: HttpRequest, { cookieOnly }: CredentialOptions): Promise<Actor | [false, CredentialFailure]> {
    const { authenticator } = this;
    const actor = await (cookieOnly ? authenticator.byCookie(request) : authenticator.authenticate(request));
    return actor ?? [false, actor === null ? 'none' : 'invalid'];
  }

  onApplicationShutdown(): void {
    passport.unuse(this.name);
  }
}
