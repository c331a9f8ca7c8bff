import type { KeyObject } from 'node:crypto';
import { PassportStrategy } from '@nestjs/passport';
import passport from 'passport';
import { ExtractJwt, Strategy, type StrategyOptionsWithoutRequest } from 'passport-jwt';

export interface JwtStrategyConfig {
  readonly issuer: string;
  /** Key for the id in the token's header; undefined if it is not the current one. */
  readonly keyFor: (keyId: string | undefined) => Promise<KeyObject | undefined>;
}

/** Claims of our tokens. */
export interface TokenClaims {
  readonly sub: string;
  readonly scope: string;
  readonly uid?: number;
  readonly role?: string;
  readonly iat: number;
  readonly exp: number;
}

/** The keys could not be read, so nothing is known about the token. */
class KeyFailure extends Error {
  override readonly name = 'KeyFailure';
}

const NAME = 'jwt';

/** passport-jwt with a key that is looked up by its id. */
export class JwtStrategy extends PassportStrategy(Strategy, NAME) {
  /** One per strategy: Passport's own registry is shared by the whole process, where two applications would collide. */
  declare private registry: passport.Authenticator | undefined;

  constructor({ issuer, keyFor }: JwtStrategyConfig) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: (_request, token: string, done) => void provideKey(keyFor(keyIdOf(token)), done),
      algorithms: ['HS256'],
      issuer,
      audience: issuer,
    } satisfies StrategyOptionsWithoutRequest);
  }

  validate(claims: TokenClaims): TokenClaims {
    return claims;
  }

  /** Claims of a token, undefined when it is not valid. @throws Error when the keys cannot be read. */
  claimsOf(token: string): Promise<TokenClaims | undefined> {
    return new Promise((resolve, reject) => {
      const decided = (error: unknown, claims: TokenClaims | false, reason?: unknown): void => {
        if (error !== null || reason instanceof KeyFailure) reject(asError(error ?? (reason as Error).cause));
        else resolve(claims === false ? undefined : claims);
      };
      const request = { headers: { authorization: `Bearer ${token}` } };
      const authenticate = this.getPassportInstance().authenticate(NAME, { session: false }, decided) as Middleware;
      authenticate(request, {}, reject);
    });
  }

  /** Called by the constructor of the library's class, before this class has any fields. */
  protected getPassportInstance(): passport.Authenticator {
    return (this.registry ??= new passport.Passport());
  }
}

type Middleware = (request: object, response: object, next: (error: unknown) => void) => void;

async function provideKey(
  lookup: Promise<KeyObject | undefined>,
  done: (error: unknown, key?: string) => void,
): Promise<void> {
  try {
    const key = await lookup;
    // The declared type does not mention that jsonwebtoken accepts a KeyObject.
    if (key === undefined) done(new Error('the token was signed with another key'));
    else done(null, key as unknown as string);
  } catch (error) {
    done(new KeyFailure('the signing keys cannot be read', { cause: error }));
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function keyIdOf(token: string): string | undefined {
  try {
    const [head = ''] = token.split('.');
    const header = JSON.parse(Buffer.from(head, 'base64url').toString('utf8')) as { kid?: unknown } | null;
    return typeof header?.kid === 'string' ? header.kid : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
