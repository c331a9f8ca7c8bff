import { describe, expect, it } from 'vitest';
import { JsonLogger } from '../logging/json-logger.js';
import { prepareSchema, type SchemaPreparation } from './prepare-schema.js';

const logger = new JsonLogger({ service: 't', level: 'silent' });
const none = (): Promise<string[]> => Promise.resolve([]);
const unwanted = (): Promise<string[]> => Promise.reject(new Error('must not be called'));

function preparation(changes: Partial<SchemaPreparation>): SchemaPreparation {
  return { service: 'notes', autoMigrate: false, pending: none, migrate: unwanted, logger, ...changes };
}

describe('prepareSchema', () => {
  it('migrates if configured', async () => {
    let ran = 0;
    const migrate = (): Promise<string[]> => {
      ran += 1;
      return Promise.resolve(['a']);
    };
    await prepareSchema(preparation({ autoMigrate: true, pending: unwanted, migrate }));
    expect(ran).toBe(1);
  });

  it('continues if nothing is missing', async () => {
    await expect(prepareSchema(preparation({}))).resolves.toBeUndefined();
  });

  it('refuses an outdated schema and names the command to run', async () => {
    const refused = prepareSchema(preparation({ pending: () => Promise.resolve(['Create1', 'Alter2']) }));
    await expect(refused).rejects.toThrow(
      'the database lacks 2 migrations (Create1, Alter2): run node apps/notes/dist/migrate.js, or set AUTO_MIGRATE=true',
    );
  });

  it.each([
    [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'nothing listens there'],
    [Object.assign(new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })])), 'nothing listens'],
    [Object.assign(new Error('auth'), { code: '28P01' }), 'refuses the password'],
    [new Error('timeout expired'), 'does not answer'],
  ])('explains why the database cannot be used: %o', async (error, text) => {
    const refused = prepareSchema(preparation({ pending: () => Promise.reject(error) }));
    await expect(refused).rejects.toThrow(`DATABASE_URL: the database cannot be used`);
    await expect(prepareSchema(preparation({ pending: () => Promise.reject(error) }))).rejects.toThrow(text);
  });

  it('passes on other failures unchanged', async () => {
    const failing = preparation({ pending: () => Promise.reject(new Error('a bug')) });
    await expect(prepareSchema(failing)).rejects.toThrow(/^a bug$/);
  });
});
