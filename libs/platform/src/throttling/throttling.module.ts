import {
  Injectable,
  Module,
  SetMetadata,
  type CustomDecorator,
  type DynamicModule,
  type ExecutionContext,
  type FactoryProvider,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerLimitDetail,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { clientAddress } from '../http/client-address.js';
import { FixedWindowStorage, type WindowCounter } from './fixed-window.js';
import { MemoryWindowCounter } from './memory-counter.js';

const SKIPPED = 'gatehouse:skip-throttle';

/** Exempts a route that has its own limits. */
export const SkipThrottle = (): CustomDecorator => SetMetadata(SKIPPED, true);

const PASSED = Promise.resolve(true);
const RESET = 'X-RateLimit-Reset';

function resetTime(seconds: number): number {
  return Math.ceil(Date.now() / 1_000) + seconds;
}

/** Answers a refusal in the service's wire format; counts by client address, an IPv6 /64 as one. */
@Injectable()
export class ThrottlingGuard extends ThrottlerGuard {
  /** By handler: whether its route has its own limits. */
  private readonly skipped = new WeakMap<object, boolean>();

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
  ) {
    super(options, storage, reflector);
  }

  /** Skipped routes cost almost nothing: the library would read a dozen decorators first. */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return this.isSkipped(context.getHandler()) ? PASSED : super.canActivate(context);
  }

  /** Metadata of a route never changes, so it is read once. */
  private isSkipped(handler: ReturnType<ExecutionContext['getHandler']>): boolean {
    const known = this.skipped.get(handler);
    if (known !== undefined) return known;
    const isSkipped = this.reflector.get<boolean | undefined>(SKIPPED, handler) === true;
    this.skipped.set(handler, isSkipped);
    return isSkipped;
  }

  /** The library says in how many seconds a window ends; everything else here says when, in Unix seconds. */
  protected override setResponseHeader(response: Response, name: string, value: string | number): void {
    super.setResponseHeader(response, name, name === RESET ? resetTime(Number(value)) : value);
  }

  protected override getTracker(request: Request): Promise<string> {
    return Promise.resolve(clientAddress(request).key);
  }

  /** Readable and short as it is: the library would hash it on every request. */
  protected override generateKey(context: ExecutionContext, tracker: string, name: string): string {
    return `${context.getClass().name}.${context.getHandler().name} ${name} ${tracker}`;
  }

  protected override throwThrottlingException(_: ExecutionContext, detail: ThrottlerLimitDetail): Promise<void> {
    const { limit, timeToBlockExpire } = detail;
    throw new AppError('RATE_LIMITED', undefined, {
      retryAfterSeconds: timeToBlockExpire,
      headers: {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': '0',
        [RESET]: String(resetTime(timeToBlockExpire)),
      },
      level: 'debug',
      limit: 'requests',
    });
  }
}

export interface ThrottlingOptions {
  /** Hits of one client address (an IPv6 /64 is one) on one route in a window; @Throttle() changes it for a route. */
  readonly limit: number;
  readonly windowMs: number;
  /** The storage of counts: MemoryWindowCounter or PostgresWindowCounter. */
  readonly counter: Pick<FactoryProvider<WindowCounter>, 'useFactory' | 'inject'>;
}

/** Limits every route that is not marked @SkipThrottle(). */
@Module({})
export class ThrottlingModule {
  /** The limit of a service's settings, counted in its own process; 0 disables it. */
  static perMinute(limit: number): DynamicModule {
    if (limit === 0) return { module: ThrottlingModule };
    const counter = { useFactory: (): MemoryWindowCounter => new MemoryWindowCounter() };
    return ThrottlingModule.forRoot({ limit, windowMs: 60_000, counter });
  }

  static forRoot({ limit, windowMs, counter }: ThrottlingOptions): DynamicModule {
    const throttler = ThrottlerModule.forRootAsync({
      inject: counter.inject ?? [],
      useFactory: async (...dependencies: unknown[]) => ({
        throttlers: [{ limit, ttl: windowMs }],
        storage: new FixedWindowStorage(await counter.useFactory(...dependencies)),
      }),
    });
    return {
      module: ThrottlingModule,
      imports: [throttler],
      providers: [{ provide: APP_GUARD, useClass: ThrottlingGuard }],
    };
  }
}
