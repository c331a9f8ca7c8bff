import {
  Module,
  type DynamicModule,
  type BeforeApplicationShutdown,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { createSecretBox, PgListener } from '@gatehouse/persistence';
import { JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import { DataSource } from 'typeorm';
import { AuthGuard } from './guard/auth.guard.js';
import { Authenticator, AuthPolicy } from './guard/authenticator.js';
import { CredentialsStrategy } from './guard/credentials-strategy.js';
import { KnownUsers, SessionUsers } from './guard/known-users.js';
import { ApiKeyStore } from './keys/api-key-store.js';
import { LastUseWriter, type LastUseTable } from './keys/last-use-writer.js';
import { LoginThrottle, type LoginThrottleLimits } from './login/login-throttle.js';
import { SessionCookie } from './sessions/session-cookie.js';
import { SessionStore } from './sessions/session-store.js';
import { TokenSigner } from './tokens/token-signer.js';

export interface SessionOptions {
  /** Name of the cookie, without `__Host-`. */
  readonly cookie: string;
  /** Whether browsers reach the service over HTTPS. */
  readonly secure: boolean;
  /** Finds the users; resolved by injection. */
  readonly users: Type<SessionUsers>;
  readonly absoluteSeconds?: number;
  readonly idleSeconds?: number;
  /** Where uses of sessions are recorded. Default: nowhere. */
  readonly lastUse?: LastUseTable;
}

export interface AuthModuleOptions {
  /** Name of the service: realm, issuer and prefix of notification channels. */
  readonly service: string;
  /** 32 bytes that seal the signing key: loadSecretKey(). Absent: no tokens. */
  readonly secretKeys?: readonly Buffer[];
  /** For example `gpk_`. Absent: no API keys. */
  readonly apiKeyPrefix?: string;
  readonly sessions?: SessionOptions;
  /** Decides whether credentials are needed at all; resolved by injection. */
  readonly policy?: Type<AuthPolicy>;
  readonly loginLimits?: LoginThrottleLimits;
  /** Modules that export the dependencies of `policy` and `sessions.users`. */
  readonly imports?: NonNullable<DynamicModule['imports']>;
}

/**
 * Starts what the options enable and installs the guard for every route. Needs PersistenceModule and PlatformModule.
 */
@Module({})
export class AuthModule {
  static forRoot(options: AuthModuleOptions): DynamicModule {
    const parts = [...keyProviders(options), ...tokenProviders(options), ...sessionProviders(options)];
    return {
      module: AuthModule,
      global: true,
      imports: options.imports ?? [],
      providers: [...parts, ...guardProviders(options), loginThrottle(options), lifecycle()],
      exports: [LoginThrottle, Authenticator, ...parts.map(tokenOf)],
    };
  }
}

type FactoryOrClass = Exclude<Provider, Type>;

function tokenOf(provider: FactoryOrClass): FactoryOrClass['provide'] {
  return provider.provide;
}

function keyProviders({ apiKeyPrefix: prefix, service }: AuthModuleOptions): FactoryOrClass[] {
  if (prefix === undefined) return [];
  return [
    {
      provide: ApiKeyStore,
      inject: [DataSource, JsonLogger],
      useFactory: (dataSource: DataSource, logger: JsonLogger) =>
        new ApiKeyStore(dataSource, { prefix, channel: `${service}:api_keys` }, logger),
    },
  ];
}

function tokenProviders({ secretKeys, service }: AuthModuleOptions): FactoryOrClass[] {
  if (secretKeys === undefined) return [];
  const box = createSecretBox(secretKeys);
  return [
    {
      provide: TokenSigner,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) =>
        new TokenSigner(dataSource, box, { issuer: service, channel: `${service}:signing_keys` }),
    },
  ];
}

function sessionProviders({ sessions, service }: AuthModuleOptions): FactoryOrClass[] {
  if (sessions === undefined) return [];
  const { cookie, secure, users, absoluteSeconds, idleSeconds, lastUse } = sessions;
  return [
    { provide: SessionCookie, useFactory: () => new SessionCookie(cookie, secure) },
    { provide: SessionUsers, useClass: users },
    {
      provide: KnownUsers,
      inject: [SessionUsers],
      useFactory: (found: SessionUsers) => new KnownUsers(found, `${service}:users`),
    },
    {
      provide: SessionStore,
      inject: [DataSource, JsonLogger],
      useFactory: (dataSource: DataSource, logger: JsonLogger) =>
        new SessionStore(dataSource, {
          channel: `${service}:sessions`,
          ...(absoluteSeconds === undefined ? {} : { absoluteSeconds }),
          ...(idleSeconds === undefined ? {} : { idleSeconds }),
          ...(lastUse === undefined ? {} : { lastUse: new LastUseWriter(dataSource, logger, lastUse) }),
        }),
    },
  ];
}

const optional = (token: unknown): { token: never; optional: true } => ({ token: token as never, optional: true });

function guardProviders({ service, policy }: AuthModuleOptions): Provider[] {
  return [
    ...(policy === undefined ? [] : [{ provide: AuthPolicy, useClass: policy }]),
    {
      provide: Authenticator,
      inject: [TokenSigner, ApiKeyStore, SessionStore, SessionCookie, KnownUsers].map(optional),
      useFactory: (
        tokens?: TokenSigner,
        apiKeys?: ApiKeyStore,
        store?: SessionStore,
        cookie?: SessionCookie,
        users?: KnownUsers,
      ) => {
        const sessions = store && cookie && users ? { store, cookie, users } : undefined;
        return new Authenticator({ tokens, apiKeys, sessions });
      },
    },
    {
      provide: CredentialsStrategy,
      inject: [Authenticator],
      useFactory: (authenticator: Authenticator) => new CredentialsStrategy(authenticator),
    },
    {
      provide: APP_GUARD,
      inject: [CredentialsStrategy, optional(AuthPolicy)],
      useFactory: (strategy: CredentialsStrategy, open?: AuthPolicy) => new AuthGuard(strategy, service, open),
    },
  ];
}

function loginThrottle({ loginLimits }: AuthModuleOptions): Provider {
  return {
    provide: LoginThrottle,
    inject: [DataSource, optional(MetricsRegistry)],
    useFactory: (dataSource: DataSource, metrics?: MetricsRegistry) => {
      const logins = metrics?.counter('gatehouse_logins_total', 'Logins and other checks of passwords, by result', [
        'result',
      ]);
      return new LoginThrottle(dataSource, loginLimits, (result) => logins?.inc({ result }));
    },
  };
}

function lifecycle(): Provider {
  return {
    provide: AuthLifecycle,
    inject: [PgListener, ...[ApiKeyStore, TokenSigner, SessionStore, KnownUsers].map(optional)],
    useFactory: (listener: PgListener, ...parts: (Startable | undefined)[]) => new AuthLifecycle(listener, parts),
  };
}

interface Startable {
  start(listener: PgListener): Promise<void>;
  stop(): Promise<void>;
}

/** Opens and closes the parts with the application. */
class AuthLifecycle implements OnModuleInit, BeforeApplicationShutdown {
  private readonly parts: Startable[];
  private readonly listener: PgListener;

  constructor(listener: PgListener, parts: (Startable | undefined)[]) {
    this.listener = listener;
    this.parts = parts.filter((part) => part !== undefined);
  }

  async onModuleInit(): Promise<void> {
    for (const part of this.parts) await part.start(this.listener);
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const part of this.parts) await part.stop();
  }
}
