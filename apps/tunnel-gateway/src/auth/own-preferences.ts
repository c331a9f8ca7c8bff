import type { ConsolePreferencesView } from '@gatehouse/contracts';
import { pgPool } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const READ = 'SELECT language, theme FROM tunnel_gateway_ops.user_preferences WHERE user_id = $1';
const SAVE = `INSERT INTO tunnel_gateway_ops.user_preferences (user_id, language, theme) VALUES ($1, $2, $3)
  ON CONFLICT (user_id) DO UPDATE SET language = coalesce(excluded.language, user_preferences.language),
    theme = coalesce(excluded.theme, user_preferences.theme)
  RETURNING language, theme`;

/** Language and theme that users have chosen in the console. */
@Injectable()
export class OwnPreferences {
  constructor(private readonly dataSource: DataSource) {}

  async read(userId: number | null): Promise<ConsolePreferencesView> {
    if (userId === null) throw new AppError('UNAUTHORIZED');
    const { rows } = await pgPool(this.dataSource).query<ConsolePreferencesView>(READ, [userId]);
    return rows[0] ?? { language: null, theme: null };
  }

  /** What is absent stays as it was. */
  async save(
    userId: number | null,
    { language, theme }: Partial<ConsolePreferencesView>,
  ): Promise<ConsolePreferencesView> {
    if (userId === null) throw new AppError('UNAUTHORIZED');
    const values = [userId, language ?? null, theme ?? null];
    const { rows } = await pgPool(this.dataSource).query<ConsolePreferencesView>(SAVE, values);
    return rows[0]!;
  }
}
