import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestApi } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

let api: TestApi;
let headers: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi({
    prepare: (dataSource) =>
      dataSource.query(`INSERT INTO nodes (fingerprint, source, original_name, type, server, port, network, tls, udp, config, enabled)
        VALUES ('a', 'manual', 'Tokyo', 'ss', 's', 1, 'tcp', 'none', true, 'sealed', true),
               ('b', 'manual', 'Twin', 'ss', 's', 2, 'tcp', 'none', true, 'sealed', true),
               ('c', 'manual', 'Twin', 'ss', 's', 3, 'tcp', 'none', true, 'sealed', true)`),
  });
  headers = { authorization: `Bearer ${(await api.login()).body.token as string}` };
});
afterAll(() => api.close());
beforeEach(() => api.dataSource.query('TRUNCATE rules RESTART IDENTITY'));

const rules = async () => (await api.call('GET', '/rules?source=manual')).body.items;
const raws = async (): Promise<string[]> => (await rules()).map((rule: { raw: string }) => rule.raw);
const doImport = (body: object, query = '') => api.call('POST', `/rules/import${query}`, body);

async function download(query: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${api.app.url}/api/v1/rules/export${query}`, { headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('export of rules', () => {
  beforeEach(async () => {
    await doImport({
      rules: [
        { raw: 'DOMAIN,a.example,Tokyo', note: 'office' },
        { raw: 'DOMAIN,b.example,n2', enabled: false },
        { type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'PROXY', no_resolve: true },
      ],
    });
    await api.dataSource.query(
      `INSERT INTO rules (source, type, payload, target, priority) VALUES ('subscription', 'DOMAIN', 's', 'DIRECT', 9)`,
    );
  });

  it('is JSON by default, as a file, with the names that users see', async () => {
    const { status, text, headers: sent } = await download('');
    expect(status).toBe(200);
    expect(sent.get('content-type')).toMatch(/^application\/json/);
    expect(sent.get('content-disposition')).toMatch(/^attachment; filename="gatehouse-rules-\d{8}-\d{6}\.json"$/);
    const { rules: list } = JSON.parse(text);
    expect(list).toMatchObject([
      { type: 'DOMAIN', payload: 'a.example', target: 'Tokyo', enabled: true, note: 'office' },
      { payload: 'b.example', target: 'n2', enabled: false },
      { payload: '10.0.0.0/8', target: 'PROXY', no_resolve: true, src: false },
    ]);
    expect((await download('?format=json')).text.length).toBe(text.length);
  });

  it.each(['text', 'txt'])('%s is lines', async (format) => {
    const { text, headers: sent } = await download(`?format=${format}`);
    expect(sent.get('content-disposition')).toMatch(/\.txt"$/);
    expect(text.split('\n').slice(1)).toEqual([
      '# note: office',
      'DOMAIN,a.example,Tokyo',
      '# disabled: DOMAIN,b.example,n2',
      'IP-CIDR,10.0.0.0/8,PROXY,no-resolve',
      '',
    ]);
  });

  it('clash is YAML', async () => {
    const { text, headers: sent } = await download('?format=clash');
    expect(sent.get('content-disposition')).toMatch(/\.yaml"$/);
    expect(parse(text)).toEqual({ rules: ['DOMAIN,a.example,Tokyo', 'IP-CIDR,10.0.0.0/8,PROXY,no-resolve'] });
  });

  it.each(['json', 'text', 'clash'])('comes back as it was, ids and hits included: %s', async (format) => {
    await api.dataSource.query('UPDATE rules SET hit_count = 7, hit_at = now() WHERE id = 1');
    const before = await rules();
    const { text } = await download(`?format=${format}`);
    const answer = await doImport({ mode: 'replace', text });
    expect(answer.body).toMatchObject({ unchanged: 3, created: 0, updated: 0, removed: 0, failed: 0 });
    expect(await rules()).toEqual(before);
  });

  it('refuses unknown formats', async () => {
    expect((await download('?format=xml')).status).toBe(400);
    expect((await download('?colour=red')).status).toBe(400);
  });
});

describe('import of rules', () => {
  it('accepts lines, reports the result of each, and updates the kernel', async () => {
    const before = api.kernel.syncs;
    const text =
      '# mine\nDOMAIN,a.example,Tokyo\n\nDOMAIN,b.example,Nowhere\nDOMAIN,c.example,Twin\nX,y\nDOMAIN,a.example,n1\n';
    const answer = await doImport({ text });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      mode: 'append',
      dry_run: false,
      format_detected: 'text',
      total: 7,
      parsed: 2,
      created: 1,
      updated: 0,
      unchanged: 0,
      duplicates: 1,
      removed: 0,
      skipped: 5,
      failed: 3,
      items: [
        { id: 1, name: 'DOMAIN,a.example,n1', action: 'created' },
        { id: 1, name: 'DOMAIN,a.example,n1', action: 'duplicate' },
      ],
      errors: [
        { index: 1, line: 4, code: 'UNKNOWN_TARGET', message: expect.any(String), input: 'DOMAIN,b.example,Nowhere' },
        {
          index: 2,
          line: 5,
          code: 'AMBIGUOUS_TARGET',
          message: expect.stringContaining('n2 or n3'),
          input: expect.any(String),
        },
        { index: 3, line: 6, code: 'INVALID_RULE', message: expect.any(String), input: 'X,y' },
      ],
    });
    expect(api.kernel.syncs).toBe(before + 1);
    expect(await raws()).toEqual(['DOMAIN,a.example,n1']);
  });

  it('maps unknown targets if requested', async () => {
    const body = { rules: ['DOMAIN,a.example,Nowhere', 'DOMAIN,b.example,direct'], default_target: 'PROXY' };
    expect((await doImport(body)).body).toMatchObject({ created: 2, failed: 0 });
    expect(await raws()).toEqual(['DOMAIN,a.example,PROXY', 'DOMAIN,b.example,DIRECT']);
    expect(await doImport({ ...body, default_target: 'Nowhere too' })).toMatchObject({ status: 422 });
  });

  it('changes nothing in a dry run', async () => {
    await doImport({ rules: ['DOMAIN,a.example,DIRECT'] });
    const before = await rules();
    const syncs = api.kernel.syncs;
    const expected = {
      dry_run: true,
      created: 1,
      unchanged: 0,
      removed: 1,
      items: [{ id: null }, { id: 1, action: 'removed' }],
    };
    const body = { mode: 'replace', rules: ['DOMAIN,b.example,DIRECT'] };
    expect((await doImport({ ...body, dry_run: true })).body).toMatchObject(expected);
    expect((await doImport(body, '?dry_run=true')).body).toMatchObject(expected);
    expect(await rules()).toEqual(before);
    expect(api.kernel.syncs).toBe(syncs);
  });

  it('replaces: keeps the rows that stay, in the new order, and leaves other sources alone', async () => {
    await doImport({ rules: ['DOMAIN,a.example,DIRECT', 'DOMAIN,b.example,DIRECT', 'MATCH,PROXY'] });
    await api.dataSource.query('UPDATE rules SET hit_count = id');
    await api.dataSource.query(
      `INSERT INTO rules (source, type, payload, target, priority) VALUES ('subscription', 'DOMAIN', 's', 'DIRECT', 9)`,
    );
    const text = 'rules:\n  - DOMAIN,c.example,DIRECT\n  - DOMAIN,b.example,DIRECT\n  - MATCH,PROXY\n';
    expect((await doImport({ mode: 'replace', text })).body).toMatchObject({
      format_detected: 'clash',
      created: 1,
      removed: 1,
      failed: 0,
    });
    expect((await rules()).map((rule: { id: number; hit_count: number }) => [rule.id, rule.hit_count])).toEqual([
      [expect.any(Number), 0],
      [2, 2],
      [3, 3],
    ]);
    expect((await api.call('GET', '/rules?source=subscription')).body.total).toBe(1);
  });

  it('does not remove all rules unless allowed', async () => {
    await doImport({ rules: ['DOMAIN,a.example,DIRECT'] });
    for (const body of [{ text: '' }, { text: '# nothing' }, { rules: [] }, { text: '<html>' }]) {
      expect(await doImport({ mode: 'replace', ...body })).toMatchObject({
        status: 422,
        body: { code: 'UNPROCESSABLE' },
      });
    }
    expect(await raws()).toHaveLength(1);
    expect((await doImport({ mode: 'replace', rules: [] }, '?allow_empty=true')).body).toMatchObject({ removed: 1 });
    expect(await raws()).toEqual([]);
    expect((await doImport({ rules: [] })).status).toBe(200);
  });

  it.each([
    [{}],
    [{ mode: 'append' }],
    [{ text: 'MATCH,DIRECT', rules: [] }],
    [{ text: 5 }],
    [{ text: null }],
    [{ rules: {} }],
    [{ rules: null }],
    [{ mode: 'merge', text: 'MATCH,DIRECT' }],
    [{ text: 'MATCH,DIRECT', colour: 'red' }],
    [{ text: '{"rules":' }],
    [{ text: 'rules: 7' }],
    [{ text: 'MATCH,DIRECT', dry_run: 'yes' }],
    [{ text: 'MATCH,DIRECT', default_target: '' }],
  ])('refuses %j', async (body) => {
    expect(await doImport(body)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    expect((await doImport({ text: 'MATCH,DIRECT' }, '?dry_run=perhaps')).status).toBe(400);
  });

  it('imports a hundred thousand in seconds, and again without a change', async () => {
    const text = Array.from({ length: 100_000 }, (_, index) => `DOMAIN-SUFFIX,d${index}.example,PROXY`).join('\n');
    const began = performance.now();
    expect((await doImport({ mode: 'replace', text })).body).toMatchObject({ created: 100_000, total: 100_000 });
    expect((await doImport({ mode: 'replace', text })).body).toMatchObject({ unchanged: 100_000, created: 0 });
    expect(performance.now() - began).toBeLessThan(30_000);
  }, 60_000);
});
