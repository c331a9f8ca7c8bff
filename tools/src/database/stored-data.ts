import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StoredData } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localized } from '../../bootstrap/language.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { SERVICES } from '../supervisor/service-list.js';

/** What each built service says about its data. */
export async function loadStoredData(): Promise<StoredData[]> {
  return Promise.all(
    SERVICES.map(async ({ name }) => {
      const file = join(ROOT, 'apps', name, 'dist', 'stored-data.js');
      if (!existsSync(file)) {
        throw new PlainFailure(localized(`${name} is not built: npm run build.`, `${name} 尚未构建：npm run build。`));
      }
      const { STORED_DATA } = (await import(pathToFileURL(file).href)) as { STORED_DATA: StoredData };
      return STORED_DATA;
    }),
  );
}
