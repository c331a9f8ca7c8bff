import type { AdministratorPreferences } from '@gatehouse/contracts';
import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const READ = 'SELECT language, theme FROM administrators WHERE id = 1';
const SAVE = `UPDATE administrators SET language = coalesce($1, language), theme = coalesce($2, theme) WHERE id = 1
  RETURNING language, theme`;

/** Language and theme that the administrator has chosen in the console. */
@Injectable()
export class StoredPreferences {
  constructor(private readonly dataSource: DataSource) {}

  read(): Promise<AdministratorPreferences> {
    return this.one(READ, []);
  }

  /** What is absent stays as it was. */
  save({ language, theme }: Partial<AdministratorPreferences>): Promise<AdministratorPreferences> {
    return this.one(SAVE, [language ?? null, theme ?? null]);
  }

  private async one(sql: string, values: unknown[]): Promise<AdministratorPreferences> {
    const { rows } = await pgPool(this.dataSource).query<AdministratorPreferences>(sql, values);
    return rows[0] ?? { language: null, theme: null };
  }
}
