import { KeptPreferences } from '@gatehouse/auth';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Language and theme that the administrator has chosen in the console. */
@Injectable()
export class AdministratorPreferences extends KeptPreferences {
  constructor(dataSource: DataSource) {
    super(dataSource, {
      read: 'SELECT language, theme FROM administrators WHERE id = $1',
      save: `UPDATE administrators SET language = coalesce($2, language), theme = coalesce($3, theme) WHERE id = $1
        RETURNING language, theme`,
    });
  }
}
