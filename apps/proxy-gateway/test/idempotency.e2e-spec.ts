import { IdempotencyStore } from '@gatehouse/auth';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestApi } from './support/test-api.js';
import type { Answer, TestApi } from './support/test-api.js';

let api: TestApi;
let token: string;
beforeAll(async () => {
  api = await startTestApi();
  token = (await api.login()).body.token;
});
afterAll(() => api.close());
beforeEach(() => api.dataSource.query('TRUNCATE rules, idempotency_keys, api_keys'));

const rule = { type: 'DOMAIN', payload: 'a.example', target: 'DIRECT' };
const post = (path: string, body: object, key: string, secret = token): Promise<Answer> =>
  api.call('POST', path, body, { authorization: `Bearer ${secret}`, 'idempotency-key': key });
const rules = async (): Promise<number> => (await api.call('GET', '/rules')).body.total;

describe('Idempotency-Key', () => {
  it('creates once and repeats the answer', async () => {
    const first = await post('/rules', rule, 'k1');
    const second = await post('/rules', rule, 'k1');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(await rules()).toBe(1);
    await post('/rules', rule, 'k2');
    expect(await rules()).toBe(2);
  });

  it('creates once for many concurrent equal requests', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/rules', rule, 'storm')));
    expect(await rules()).toBe(1);
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(1);
    for (const { status, body } of answers) if (status !== 201) expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });

  it('reserves the key while the request runs', async () => {
    const hold = vi.spyOn(IdempotencyStore.prototype, 'hold');
    await post('/rules', rule, 'held');
    await post('/rules', rule, 'held');
    expect(hold.mock.calls.map(([{ key }]) => key)).toEqual(['held']);
    hold.mockRestore();
  });

  it('refuses the key for another request', async () => {
    await post('/rules', rule, 'k1');
    expect(await post('/rules', { ...rule, payload: 'b.example' }, 'k1')).toMatchObject({
      status: 422,
      body: { code: 'UNPROCESSABLE' },
    });
    expect(await rules()).toBe(1);
  });

  it('lets a failed request be tried again under its key', async () => {
    expect((await post('/rules', { ...rule, target: 'n1' }, 'k1')).status).toBe(422);
    await api.dataSource
      .query(`INSERT INTO nodes (id, fingerprint, source, original_name, type, server, port, network, tls, udp, config)
      OVERRIDING SYSTEM VALUE VALUES (1, 'a', 'manual', 'A', 'ss', 's', 1, 'tcp', 'none', true, 'sealed')`);
    expect((await post('/rules', { ...rule, target: 'n1' }, 'k1')).status).toBe(201);
  });

  it('keeps the keys of different credentials apart', async () => {
    const { key } = (await api.call('POST', '/api-keys', {})).body;
    await post('/rules', rule, 'k1');
    expect((await post('/rules', { ...rule, payload: 'b.example' }, 'k1', key)).status).toBe(201);
  });

  it('repeats an API key to its creator, and stores it only sealed', async () => {
    const first = await post('/api-keys', { name: 'phone' }, 'k1');
    const second = await post('/api-keys', { name: 'phone' }, 'k1');
    expect(second.body.key).toBe(first.body.key);
    const stored: unknown = await api.dataSource.query('SELECT * FROM idempotency_keys');
    expect(JSON.stringify(stored)).not.toContain(first.body.key);
  });

  it('takes over from a process that died with the request, and expires after a day', async () => {
    await post('/rules', rule, 'k1');
    const age = (interval: string, answered: boolean) =>
      api.dataSource.query(
        `UPDATE idempotency_keys SET created_at = now() - $1::interval${answered ? '' : ', sealed_answer = NULL, carried_out = false'}`,
        [interval],
      );
    await age('10 seconds', false);
    expect((await post('/rules', rule, 'k1')).status).toBe(409);
    await age('31 seconds', false);
    expect((await post('/rules', rule, 'k1')).status).toBe(201);
    expect(await rules()).toBe(2);
    await age('25 hours', true);
    expect((await post('/rules', rule, 'k1')).headers.get('idempotency-replayed')).toBeNull();
    expect(await rules()).toBe(3);
  });

  it.each(['a b', 'x'.repeat(256)])('refuses the key %j', async (key) => {
    expect(await post('/rules', rule, key)).toMatchObject({
      status: 400,
      body: { details: [{ field: 'Idempotency-Key' }] },
    });
  });

  it('has its answer with an API key from the commit on, whatever fails afterwards', async () => {
    // The process ends here: the answer is not delivered, and not stored after the commit.
    const died = vi.spyOn(IdempotencyStore.prototype, 'remember').mockRejectedValueOnce(new Error('killed'));
    expect((await post('/api-keys', { name: 'crash' }, 'crash')).status).toBe(500);
    const [, answer] = died.mock.calls.at(-1) ?? [];
    died.mockRestore();
    const repeat = await post('/api-keys', { name: 'crash' }, 'crash');
    expect([repeat.status, repeat.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(repeat.body).toEqual(JSON.parse(JSON.stringify(answer)));
    const stored: unknown = await api.dataSource.query('SELECT * FROM idempotency_keys');
    expect(JSON.stringify(stored)).not.toContain(repeat.body.key);
  });

  describe('of a request whose database connection ends', () => {
    const END_IT = `CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`;
    beforeAll(() => api.dataSource.query(END_IT));
    afterAll(() => api.dataSource.query('DROP FUNCTION end_connection CASCADE'));

    it('between its work and its answer is executed once, and reported', async () => {
      await api.dataSource.query(`CREATE TRIGGER before_answer BEFORE UPDATE ON idempotency_keys FOR EACH ROW
        WHEN (NEW.sealed_answer IS NOT NULL) EXECUTE FUNCTION end_connection()`);
      expect((await post('/rules', rule, 'cut')).status).toBe(201);
      // Each further attempt to store the answer ends a connection, possibly that of the repeated request: 503.
      await waitFor(async () => (await post('/rules', rule, 'cut')).status === 409);
      await api.dataSource.query('DROP TRIGGER before_answer ON idempotency_keys');
      // The state after half a minute, as another process would see it.
      await api.dataSource.query(
        `UPDATE idempotency_keys SET created_at = now() - interval '31 seconds', claim = NULL`,
      );
      const repeat = await post('/rules', rule, 'cut');
      expect(repeat).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
      expect(repeat.body.error).toContain('was carried out');
      expect(await rules()).toBe(1);
    });

    it('at its commit changes nothing, and the key can be used again', async () => {
      await api.dataSource
        .query(`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON rules DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION end_connection()`);
      expect((await post('/rules', rule, 'commit')).status).toBe(503);
      await api.dataSource.query('DROP TRIGGER at_commit ON rules');
      expect(await rules()).toBe(0);
      expect((await post('/rules', rule, 'commit')).status).toBe(201);
      expect(await rules()).toBe(1);
    });

    it('does nothing for a request whose key another one has taken over', async () => {
      await api.dataSource.query(`CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN UPDATE idempotency_keys SET claim = gen_random_uuid(); RETURN NEW; END $$`);
      await api.dataSource.query(
        'CREATE TRIGGER meanwhile BEFORE INSERT ON rules FOR EACH ROW EXECUTE FUNCTION take_over()',
      );
      expect((await post('/rules', rule, 'taken')).status).toBe(409);
      await api.dataSource.query('DROP FUNCTION take_over CASCADE');
      expect(await rules()).toBe(0);
    });
  });
});
