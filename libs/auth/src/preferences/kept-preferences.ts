import type { ConsolePreferences } from '@gatehouse/contracts';
import { pgPool } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';

/** Where a service keeps them: both statements take the id of an account as $1 and return its `language` and `theme`. */
export interface PreferencesStatements {
  readonly read: string;
  /** $2 language, $3 theme; null: not changed. */
  readonly save: string;
}

/** Language and theme that users have chosen in the console. Services extend it with their statements. */
export abstract class KeptPreferences {
  protected constructor(
    private readonly dataSource: DataSource,
    private readonly statements: PreferencesStatements,
  ) {}

  read(accountId: number): Promise<ConsolePreferences> {
    return this.one(this.statements.read, [accountId]);
  }

  /** What is absent stays as it was. */
  save(accountId: number, { language, theme }: Partial<ConsolePreferences>): Promise<ConsolePreferences> {
    return this.one(this.statements.save, [accountId, language ?? null, theme ?? null]);
  }

  private async one(sql: string, values: unknown[]): Promise<ConsolePreferences> {
    const { rows } = await pgPool(this.dataSource).query<ConsolePreferences>(sql, values);
    return rows[0] ?? { language: null, theme: null };
  }
}
