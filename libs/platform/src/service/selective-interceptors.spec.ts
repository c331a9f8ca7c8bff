import { APP_INTERCEPTOR } from '@nestjs/core';
import type { CallHandler, DynamicModule, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import request from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { bootNotes } from './boot-notes.fixture.js';
import { globalInterceptor, type SelectiveInterceptor } from './selective-interceptors.js';

let ran: string[] = [];
let app: NestExpressApplication;

class OfWrites implements SelectiveInterceptor {
  concerns({ method }: Request): boolean {
    return method !== 'GET';
  }
  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    ran.push(`writes ${context.getHandler().name}`);
    return next.handle().pipe(map((result) => ({ ...result, seen: true })));
  }
}

class OfEverything implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    ran.push(`everything ${context.getHandler().name}`);
    return next.handle();
  }
}

async function boot(providers: NonNullable<DynamicModule['providers']>): Promise<void> {
  ran = [];
  ({ app } = await bootNotes({}, providers));
}

afterEach(() => app.close());

describe('a selective interceptor', () => {
  it('runs for the requests that concern it, and not for others', async () => {
    await boot([globalInterceptor(OfWrites)]);
    const read = await request(app.getHttpServer()).get('/notes/3');
    expect([read.status, read.body, ran]).toEqual([200, { id: 3 }, []]);
    const written = await request(app.getHttpServer()).post('/notes').send({ name: 'one' });
    expect([written.status, written.body, ran]).toEqual([201, { name: 'one', seen: true }, ['writes create']]);
  });

  it('leaves other interceptors alone, and errors of handlers', async () => {
    await boot([{ provide: APP_INTERCEPTOR, useClass: OfEverything }, globalInterceptor(OfWrites)]);
    await request(app.getHttpServer()).get('/notes/3').expect(200, { id: 3 });
    await request(app.getHttpServer()).get('/notes/404').expect(404);
    await request(app.getHttpServer()).post('/notes').send({ name: 'one' }).expect(201);
    expect(ran).toEqual(['everything find', 'everything find', 'everything create', 'writes create']);
  });
});
