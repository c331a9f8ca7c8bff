import { globalInterceptor } from '@gatehouse/platform';
import { Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { ANSWER_BOX, IdempotencyStore } from './idempotency-store.js';

/** Supports Idempotency-Key on every POST of the service; createIdempotencyTable() creates its table. */
@Module({})
export class IdempotencyModule {
  /** `box`: the injection token of the service's SecretBox. */
  static forRoot({ box }: { box: InjectionToken }): DynamicModule {
    return {
      module: IdempotencyModule,
      providers: [
        IdempotencyStore,
        { provide: ANSWER_BOX, useExisting: box },
        globalInterceptor(IdempotencyInterceptor),
      ],
    };
  }
}
