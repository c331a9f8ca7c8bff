import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Answer, Gateway } from './support/gateway.js';

let gateway: Gateway;
let writer: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  const { key } = (await gateway.call('POST', '/api-keys', { name: 'w', scopes: ['read', 'write'] })).body;
  writer = { authorization: `Bearer ${key}` };
});
afterAll(() => gateway[Symbol.asyncDispose]());

const URL_A = 'http://127.0.0.1:9/a';
const KINDS: [string, object][] = [
  ['/subscriptions', { name: 'private', enabled: false }],
  ['/rule-sets', { name: 'private', type: 'http', behavior: 'domain', format: 'text', enabled: false }],
];

describe.each(KINDS)('private addresses of %s', (path, body) => {
  const asWriter = (method: string, at: string, more: object): Promise<Answer> =>
    gateway.call(method, at, more, writer);
  const refused = { status: 403, body: { code: 'FORBIDDEN', details: [{ field: 'allow_private' }] } };

  it('are for administrators to allow, and to choose among', async () => {
    expect(await asWriter('POST', path, { ...body, url: URL_A, allow_private: true })).toMatchObject(refused);
    expect((await gateway.call('GET', path)).body.total).toBe(0);

    const own = await asWriter('POST', path, { ...body, url: URL_A, allow_private: false });
    expect(own.status).toBe(201);
    const at = `${path}/${own.body.id}`;
    expect(await asWriter('PUT', at, { allow_private: true })).toMatchObject(refused);
    expect((await gateway.call('PUT', at, { allow_private: true })).body.allow_private).toBe(true);

    expect(await asWriter('PUT', at, { url: 'http://127.0.0.1:9/b' })).toMatchObject(refused);
    expect((await gateway.call('GET', at)).body).toMatchObject({ url: URL_A, allow_private: true });
    const renamed = await asWriter('PUT', at, { name: 'renamed', url: URL_A, allow_private: true });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'renamed']);
    const given = await asWriter('PUT', at, { url: 'http://127.0.0.1:9/b', allow_private: false });
    expect([given.status, given.body.allow_private]).toEqual([200, false]);
  });
});
