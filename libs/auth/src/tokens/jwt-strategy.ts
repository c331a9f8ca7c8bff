import type { KeyObject } from 'node:crypto';
import { ExtractJwt, Strategy, type StrategyOptionsWithoutRequest } from 'passport-jwt';

export interface JwtStrategyConfig {
  readonly issuer: string;
  /** Key for the id in the token's header; undefined when it is not the present one. */
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

/**
 * passport-jwt's strategy with a key looked up by id, run without passport's middleware:
 * that one keeps strategies in one registry per process, where two applications would meet.
 */
export class JwtStrategy extends Strategy {
  private readonly keyFor: JwtStrategyConfig['keyFor'];

  constructor({ issuer, keyFor }: JwtStrategyConfig) {
    const options: StrategyOptionsWithoutRequest = {
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      // The declared type forgets that jsonwebtoken takes a KeyObject.
      secretOrKeyProvider: (request, _token, done) =>
        done(null, (request as unknown as SignedRequest).signingKey as unknown as string),
      algorithms: ['HS256'],
      issuer,
      audience: issuer,
    };
    super(options, (claims: TokenClaims, done) => done(null, claims));
    this.keyFor = keyFor;
  }

  /** Claims of a token, undefined when it is not valid; rejects when the keys cannot be read. */
  async claimsOf(token: string): Promise<TokenClaims | undefined> {
    const signingKey = await this.keyFor(keyIdOf(token));
    if (signingKey === undefined) return undefined;
    const request = { headers: { authorization: `Bearer ${token}` }, signingKey };
    const run = Object.create(this) as Strategy;
    return new Promise((resolve, reject) => {
      run.success = (claims) => resolve(claims as unknown as TokenClaims);
      run.fail = () => resolve(undefined);
      run.error = (error: unknown) => reject(error instanceof Error ? error : new Error(String(error)));
      run.authenticate(request as unknown as Parameters<Strategy['authenticate']>[0]);
    });
  }
}

/** The part of a request that passport-jwt reads, with the key chosen for its token. */
interface SignedRequest {
  readonly signingKey: KeyObject;
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
