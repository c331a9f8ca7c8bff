import express from 'express';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.js';
import { bodyParsers } from './body-parsers.js';

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const wide = (fields: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: fields }, (_, index) => [`k${index}`, index])));

/** The error that the parsers hand on for a body. */
async function errorFor(body: string): Promise<unknown> {
  const app = express();
  app.use(bodyParsers({ limit: 1_000_000, forms: false, streamedPaths: [] }));
  const outcome = Promise.withResolvers<unknown>();
  app.use((_request, response) => {
    outcome.resolve(undefined);
    response.end();
  });
  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    outcome.resolve(error);
    response.end();
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const headers = { 'content-type': 'application/json' };
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
  server.close();
  return outcome.promise;
}

describe('the shape of a body', () => {
  it.each([
    ['64 levels', nested(64)],
    ['500 fields', wide(500)],
    ['many items', JSON.stringify(Array.from({ length: 10_000 }, () => ({ a: 1 })))],
  ])('passes with %s', async (_what, body) => {
    expect(await errorFor(body)).toBeUndefined();
  });

  it.each([
    ['65 levels', nested(65)],
    ['100 000 levels', nested(100_000)],
    ['501 fields', wide(501)],
    ['501 fields inside', `[{"a":${wide(501)}}]`],
  ])('is refused with %s', async (_what, body) => {
    const error = await errorFor(body);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', status: 400 });
  });
});
