import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDescription } from './support/description.js';
import type { Description } from './support/description.js';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';

let gateway: Gateway;
let description: Description;
beforeAll(async () => {
  gateway = await startGateway();
  description = await readDescription(gateway.app.url);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const operations = (): AnyJson[] => description.operationIds().map((id) => description.operation(id).document);

it('describes the answers and failures of every route', () => {
  const vague = operations().filter(({ summary, responses }) => summary === undefined || 'default' in responses);
  expect(vague.map(({ operationId }) => operationId)).toEqual([]);
});

it('gives every operation a name of its own', () => {
  const ids = description.operationIds();
  expect(new Set(ids).size).toBe(ids.length);
});

it('has 401 and 403 if credentials are needed, 404 for named resources, 413 and 415 with a body', () => {
  for (const { operationId, parameters, requestBody, responses, security } of operations()) {
    const open = security !== undefined;
    const named = parameters.some((parameter: AnyJson) => parameter.in === 'path');
    const statuses = Object.keys(responses);
    expect(statuses.includes('403'), operationId).toBe(!open);
    expect(statuses.includes('404'), operationId).toBe(named);
    expect(statuses.includes('415'), operationId).toBe(requestBody !== undefined);
    expect(statuses, operationId).toEqual(expect.arrayContaining(open ? ['400', '429'] : ['400', '401', '429']));
  }
});

it('has no field twice in two shapes: answers are the contract types', () => {
  const { schemas } = description.document.components;
  expect(schemas.NodeView.properties.raw_config.type).toBe('string');
  expect(schemas.NodePage).toMatchObject({ $ref: '#/components/schemas/Page_NodeView' });
  expect(schemas.Page_NodeView.required).toEqual(['items', 'limit', 'offset', 'total']);
});

it('refuses unknown fields in the description, too', () => {
  const { NewSubscription, GroupChanges, FilterBody } = description.document.components.schemas;
  expect(NewSubscription).toMatchObject({ additionalProperties: false, required: ['name', 'url'] });
  expect(GroupChanges.properties.interval_sec).toEqual({ type: ['integer', 'null'], minimum: 10, maximum: 86_400 });
  expect(GroupChanges.properties.filter.anyOf).toEqual([{ $ref: '#/components/schemas/FilterBody' }, { type: 'null' }]);
  expect(FilterBody.properties.subscription_ids.items).toMatchObject({ type: 'integer', minimum: 1 });
});

it('is shown on a page that loads nothing from other hosts', async () => {
  const page = await (await fetch(`${gateway.app.url}/docs`)).text();
  const addresses = [...page.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)].map((match) => match[1]!);
  expect(addresses).toContain('/docs/swagger-ui-bundle.js');
  for (const address of addresses) {
    expect(address).toMatch(/^\/docs\//);
    expect((await fetch(`${gateway.app.url}${address}`)).status, address).toBe(200);
  }
  const script = await (await fetch(`${gateway.app.url}/docs/start.js`)).text();
  expect(script).toContain('/api/v1/openapi.json');
});
