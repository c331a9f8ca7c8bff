import type { NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootNotes } from './boot-notes.fixture.js';

let app: NestExpressApplication;

beforeAll(async () => {
  ({ app } = await bootNotes({ entityTag: tagOfNote }));
});
afterAll(() => app.close());

/** Only answers with one note have a tag. */
function tagOfNote(result: unknown): string | undefined {
  return typeof result === 'object' && result !== null && 'id' in result ? `"note-${String(result.id)}"` : undefined;
}

describe('the entity tag of a service', () => {
  it('is sent with reads whose result has one', async () => {
    const note = await request(app.getHttpServer()).get('/notes/3');
    expect([note.status, note.headers['etag'], note.body]).toEqual([200, '"note-3"', { id: 3 }]);
    const head = await request(app.getHttpServer()).head('/notes/3');
    expect([head.status, head.headers['etag']]).toEqual([200, '"note-3"']);
    expect((await request(app.getHttpServer()).get('/drawers/labels')).headers['etag']).toBeUndefined();
    expect((await request(app.getHttpServer()).get('/notes/404')).headers['etag']).toBeUndefined();
  });

  it('is not sent with writes other than PATCH', async () => {
    const written = await request(app.getHttpServer()).put('/drawers/3');
    expect([written.status, written.body, written.headers['etag']]).toEqual([200, { id: 3 }, undefined]);
  });

  it('makes a read answer 304 to a client that knows it', async () => {
    const known = await request(app.getHttpServer()).get('/notes/3').set('If-None-Match', '"note-3"');
    expect([known.status, known.text]).toEqual([304, '']);
    const changed = await request(app.getHttpServer()).get('/notes/3').set('If-None-Match', '"note-2"');
    expect(changed.status).toBe(200);
  });
});
