import type { ClassProvider, NestInterceptor, Type } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer.js';
import type { Request } from 'express';

/** A global interceptor that has work to do for some requests only. */
export interface SelectiveInterceptor extends NestInterceptor {
  /** Whether it has to run for this request. Asked after the guards; a request that concerns no interceptor runs none. */
  concerns(request: Request): boolean;
}

/** Registers an interceptor for every route of the service. */
export function globalInterceptor(useClass: Type<SelectiveInterceptor>): ClassProvider<SelectiveInterceptor> {
  return { provide: APP_INTERCEPTOR, useClass };
}

type Intercept = InterceptorsConsumer['intercept'];

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
const { intercept } = InterceptorsConsumer.prototype;

/**
 * Makes Nest leave out interceptors that a request does not concern. Nest builds observables and async resources for a
 * request of every route that has an interceptor, which costs as much as the rest of Nest (decision 0151). Without this
 * all of them would run, with the same result.
 */
export function skipIdleInterceptors(): void {
  InterceptorsConsumer.prototype.intercept = interceptWhereConcerned;
}

const interceptWhereConcerned: Intercept = function (this: InterceptorsConsumer, interceptors, args, ...rest) {
  return intercept.call(this, concerned(interceptors, args[0] as Request), args, ...rest);
};

function concerned(interceptors: NestInterceptor[], request: Request): NestInterceptor[] {
  return interceptors.filter((each) => !isSelective(each) || each.concerns(request));
}

function isSelective(interceptor: NestInterceptor): interceptor is SelectiveInterceptor {
  return 'concerns' in interceptor;
}
