import { createDataSource } from '@gatehouse/persistence';
import { createTestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { KeptPreferences } from './kept-preferences.js';

class AccountPreferences extends KeptPreferences {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      read: 'SELECT language, theme FROM accounts WHERE id = $1',
      save: `UPDATE accounts SET language = coalesce($2, language), theme = coalesce($3, theme) WHERE id = $1
        RETURNING language, theme`,
    });
  }
}

it('keeps the language and the theme of each account apart, and changes only what is given', async () => {
  const database = await createTestDatabase();
  const config = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'test' };
  const dataSource = await createDataSource(config).initialize();
  try {
    await dataSource.query(`CREATE TABLE accounts (id int PRIMARY KEY, language text, theme text);
      INSERT INTO accounts (id) VALUES (1), (2)`);
    const preferences = new AccountPreferences(dataSource);
    expect(await preferences.save(1, { theme: 'dark' })).toEqual({ language: null, theme: 'dark' });
    expect(await preferences.save(1, { language: 'zh-CN' })).toEqual({ language: 'zh-CN', theme: 'dark' });
    expect(await preferences.read(2)).toEqual({ language: null, theme: null });
    expect(await preferences.read(3)).toEqual({ language: null, theme: null });
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
});
