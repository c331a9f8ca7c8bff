import { parseProfile, parseSubscription } from '@gatehouse/subscription-formats';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';

const LINKS = [
  'trojan://secret-one@one.example:443#Tokyo 1',
  'ss://YWVzLTEyOC1nY206c2VjcmV0@two.example:8388#Tokyo 2',
  'trojan://secret-three@three.example:443#Paris',
];
const CLASH = `mixed-port: 7890
secret: my-own-secret
proxy-groups:
  - {name: Pick, type: select, proxies: [Fast, US], include-all: true}
  - {name: Fast, type: url-test, include-all: true, filter: (?i)tokyo, exclude-filter: 2$}
  - {name: US, type: select, include-all: true, filter: US}
rules:
  - DOMAIN-SUFFIX,a.example,US
  - MATCH,Pick
`;
const SURGE = `[Proxy Group]
Pick = select, {all}
[Rule]
FINAL,Pick
`;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ API_RATE_LIMIT: '0' });
  const { body } = await gateway.call('POST', '/proxies/import', { text: LINKS.join('\n') });
  expect(body).toMatchObject({ created: 3 });
});
afterAll(() => gateway[Symbol.asyncDispose]());

let number = 0;
async function addTemplate(target: string, text: string): Promise<AnyJson> {
  const body = { name: `Template ${++number}`, target, text };
  const answer = await gateway.call('POST', '/publication-templates', body);
  expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ text, publication_ids: [] })]);
  return answer.body;
}

async function publish(more: object): Promise<AnyJson> {
  const { status, body } = await gateway.call('POST', '/publications', { name: 'phones', ...more });
  expect(status).toBe(201);
  return body;
}

const fetchAt = async (path: string, query: string): Promise<string> =>
  (await fetch(`${gateway.app.url}${path}${query}`)).text();

describe('a template', () => {
  it('stands around the nodes of publications that name it, in its format alone', async () => {
    const clash = await addTemplate('clash', CLASH);
    const surge = await addTemplate('surge', SURGE);
    const { id, path } = await publish({ template_ids: [clash.id, surge.id], steps: [{ do: 'sort', by: 'name' }] });
    const document = await fetchAt(path, '?target=clash');
    expect(document).toContain('\nmixed-port: 7890\nsecret: my-own-secret\n');
    expect(document).toContain('# changed: 1 × group_empty: US');
    expect(parseProfile(document)).toMatchObject({
      groups: [
        { name: 'Pick', proxies: ['Fast', 'US', 'Paris', 'Tokyo 1', 'Tokyo 2'] },
        { name: 'Fast', proxies: ['Tokyo 1'] },
        { name: 'US', proxies: ['REJECT'] },
      ],
      rules: ['DOMAIN-SUFFIX,a.example,US', 'MATCH,Pick'],
    });
    expect(await fetchAt(path, '?target=surge')).toContain('\nPick = select, Paris, Tokyo 1, Tokyo 2\n');
    expect(parseProfile(await fetchAt(path, '?target=loon'), 'surge').groups[0]?.name).toBe('PROXY');
    const nodes = await fetchAt(path, '?target=clash&only=nodes');
    expect([parseProfile(nodes).groups, parseSubscription(nodes).nodes.length]).toEqual([[], 3]);
    const { body } = await gateway.call('GET', `/publication-templates/${clash.id}`);
    expect(body.publication_ids).toEqual([id]);
  });

  it('is in the next document once it has changed, and changes only as it was read', async () => {
    const { id } = await addTemplate('clash', CLASH);
    const { path } = await publish({ template_ids: [id] });
    expect(await fetchAt(path, '?target=clash')).toContain('mixed-port: 7890');
    const etag = (await gateway.call('GET', `/publication-templates/${id}`)).headers.get('etag')!;
    const text = CLASH.replace('7890', '7891');
    const put = () => gateway.call('PUT', `/publication-templates/${id}`, { text }, { 'if-match': etag });
    expect((await put()).body).toMatchObject({ text, size: text.length });
    expect(await fetchAt(path, '?target=clash')).toContain('mixed-port: 7891');
    expect((await put()).status).toBe(412);
  });

  it('is deleted only when no publication uses it', async () => {
    const { id, name } = await addTemplate('surge', SURGE);
    const publication = await publish({ name: 'tablet', template_ids: [id] });
    const refused = await gateway.call('DELETE', `/publication-templates/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'IN_USE']);
    expect(refused.body.error).toBe(`Publications use template ${name}: tablet`);
    await gateway.call('PUT', `/publications/${publication.id}`, { template_ids: [] });
    expect((await gateway.call('DELETE', `/publication-templates/${id}`)).body).toEqual({ id, deleted: true });
    expect((await gateway.call('GET', `/publication-templates/${id}`)).status).toBe(404);
  });

  it('is shown before it is stored, with the nodes of a publication', async () => {
    const { id } = await publish({ steps: [{ do: 'keep', name: 'Paris' }] });
    const preview = (more: object) =>
      gateway.call('POST', '/publication-templates/preview', { target: 'clash', text: CLASH, ...more });
    expect((await preview({})).body).toMatchObject({ target: 'clash', nodes: 3, selected_total: 3 });
    const { body } = await preview({ publication_id: id });
    expect(body).toMatchObject({ nodes: 1, names: ['Paris'] });
    expect(body.remarks).toContainEqual(
      expect.objectContaining({ reason: 'group_empty', count: 2, examples: ['Fast', 'US'] }),
    );
    expect((await preview({ publication_id: 987_654 })).status).toBe(404);
  });

  it.each([
    [{ text: 'rules:\n- MATCH,Tokyo 1' }, 'text', /^line 2: the target "Tokyo 1" is no group/],
    [{ text: 'a: [' }, 'text', /^line 1: not valid YAML/],
    [{ target: 'base64' }, 'target', /must be one of/],
    [{ name: '' }, 'name', /should not be empty|must/],
  ])('that cannot be used is refused with field and line: %j', async (body, field, message) => {
    const full = { name: 'wrong', target: 'clash', text: CLASH, ...body };
    const { status, body: answer } = await gateway.call('POST', '/publication-templates', full);
    expect(status).toBe(400);
    expect(answer.details).toContainEqual({ field, message: expect.stringMatching(message) });
    const inChinese = await gateway.call('POST', '/publication-templates', full, { 'accept-language': 'zh-CN' });
    expect(inChinese.body.details[0].message).toMatch(/\p{Script=Han}/u);
  });

  it('has a name of its own, and is the only one for its format in a publication', async () => {
    const one = await addTemplate('clash', CLASH);
    const other = await addTemplate('clash', CLASH);
    const same = await gateway.call('POST', '/publication-templates', { name: one.name, target: 'surge', text: SURGE });
    expect([same.status, same.body.code]).toEqual([409, 'CONFLICT']);
    const both = await gateway.call('POST', '/publications', { name: 'a', template_ids: [one.id, other.id] });
    expect(both.body.details).toEqual([{ field: 'template_ids.1', message: 'is a second template for clash' }]);
    const none = await gateway.call('POST', '/publications/preview', { template_ids: [987_654] });
    expect(none.body.details).toEqual([{ field: 'template_ids.0', message: 'is not a template' }]);
  });

  it('keeps its text from keys that only read, from the database and from the audit log', async () => {
    const { id } = await addTemplate('clash', CLASH);
    const { body: key } = await gateway.call('POST', '/api-keys', { name: `reader ${id}`, scopes: ['read'] });
    const read = await fetch(`${gateway.app.url}/api/v1/publication-templates/${id}`, {
      headers: { 'x-api-key': key.key },
    });
    expect(await read.json()).toMatchObject({ id, text: null, size: CLASH.length });
    const rows = await gateway.app.app.get(DataSource).query('SELECT * FROM publication_templates');
    const { body: audit } = await gateway.call('GET', '/audit-logs?resource_type=publication_template');
    expect(audit.items[0]).toMatchObject({ action: 'publication_template.create' });
    for (const text of [JSON.stringify(rows), JSON.stringify(audit)]) expect(text).not.toContain('my-own-secret');
  });
});
