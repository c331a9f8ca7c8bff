import { KeptPreferences } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Language and theme that users have chosen in the console. */
@Injectable()
export class OwnPreferences extends KeptPreferences {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      read: 'SELECT language, theme FROM tunnel_gateway_ops.user_preferences WHERE user_id = $1',
      save: `INSERT INTO tunnel_gateway_ops.user_preferences (user_id, language, theme) VALUES ($1, $2, $3)
        ON CONFLICT (user_id) DO UPDATE SET language = coalesce(excluded.language, user_preferences.language),
          theme = coalesce(excluded.theme, user_preferences.theme)
        RETURNING language, theme`,
    });
  }
}
