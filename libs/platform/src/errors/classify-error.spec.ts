import { BadRequestException, HttpException, ServiceUnavailableException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { AppError } from './app-error.js';
import { classifyError } from './classify-error.js';
import { formatError } from './error-format.js';

describe('classifyError', () => {
  it('keeps a coded error', () => {
    const error = new AppError('CONFLICT', 'The name is taken');
    expect(classifyError(error)).toBe(error);
  });

  it.each([
    [new BadRequestException('size must be a number'), 'INVALID_ARGUMENT', 'size must be a number'],
    [new HttpException('Too Many Requests', 429), 'RATE_LIMITED', 'Too many requests'],
    [new HttpException('odd', 418), 'INVALID_ARGUMENT', 'odd'],
    [
      new ServiceUnavailableException('pool exhausted at 10.0.0.3'),
      'SERVICE_UNAVAILABLE',
      'The service cannot answer now',
    ],
    [new HttpException('secret', 599), 'INTERNAL', 'The service failed'],
    [new Error('secret'), 'INTERNAL', 'The service failed'],
    [Object.assign(new Error('secret'), { code: '23505' }), 'INTERNAL', 'The service failed'],
    [
      Object.assign(new Error('invalid byte sequence'), { code: '22021' }),
      'INVALID_ARGUMENT',
      'A text contains characters that are not allowed',
    ],
    [new Error('timeout exceeded when trying to connect'), 'SERVICE_UNAVAILABLE', 'The service cannot answer now'],
    [
      Object.assign(new Error('canceling statement due to lock timeout'), { severity: 'ERROR', code: '55P03' }),
      'SERVICE_UNAVAILABLE',
      'The service cannot answer now',
    ],
    [
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' }),
      'SERVICE_UNAVAILABLE',
      'The service cannot answer now',
    ],
    ['a thrown text', 'INTERNAL', 'The service failed'],
    [undefined, 'INTERNAL', 'The service failed'],
  ])('translates %o', (thrown, code, message) => {
    expect(classifyError(thrown)).toMatchObject({ code, message });
  });

  it('logs failures of the service as errors, and mistakes of the client at a lower level', () => {
    expect(classifyError(new Error('x')).level).toBe('error');
    expect(classifyError(new BadRequestException('x')).level).toBe('debug');
  });
});

describe('formatError', () => {
  const error = new AppError('RATE_LIMITED', 'Slow down', {
    details: [{ field: 'slug', message: 'is not a slug' }],
    retryAfterSeconds: 30,
    members: { limit_scope: 'user' },
  });

  it('proxy', () => {
    expect(formatError(error, 'proxy', 'id-1').body).toEqual({
      error: 'Slow down',
      code: 'RATE_LIMITED',
      details: [{ field: 'slug', message: 'is not a slug' }],
      limit_scope: 'user',
      request_id: 'id-1',
    });
  });

  it('envelope', () => {
    expect(formatError(error, 'envelope', 'id-1').body).toEqual({
      success: false,
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'Slow down',
      description: 'slug: is not a slug',
      data: null,
      details: [{ field: 'slug', message: 'is not a slug' }],
      retry_after_seconds: 30,
      limit_scope: 'user',
      request_id: 'id-1',
    });
  });

  it('keeps codes in the envelope that are more specific than their status', () => {
    expect(formatError(new AppError('EXPIRED_API_KEY'), 'envelope', 'x').body).toMatchObject({
      code: 'EXPIRED_API_KEY',
    });
    expect(formatError(new AppError('NOT_FOUND'), 'envelope', 'x').body).toMatchObject({ code: '404' });
  });

  it('problem', () => {
    expect(formatError(error, 'problem', undefined)).toEqual({
      contentType: 'application/problem+json; charset=utf-8',
      body: {
        type: '/docs/errors#rate_limited',
        title: 'Too many requests',
        status: 429,
        code: 'rate_limited',
        detail: 'Slow down',
        errors: [{ field: 'slug', message: 'is not a slug' }],
        limit_scope: 'user',
        request_id: null,
      },
    });
  });
});
