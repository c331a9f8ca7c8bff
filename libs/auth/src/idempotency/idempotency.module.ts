import { Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { ANSWER_BOX, IdempotencyStore } from './idempotency-store.js';

/** Honours Idempotency-Key on every POST of the service; its table is made by createIdempotencyTable(). */
@Module({})
export class IdempotencyModule {
  /** `box`: what the service's SecretBox is injected by. */
  static forRoot({ box }: { box: InjectionToken }): DynamicModule {
    return {
      module: IdempotencyModule,
      providers: [
        IdempotencyStore,
        { provide: ANSWER_BOX, useExisting: box },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
      ],
    };
  }
}
