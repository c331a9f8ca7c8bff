import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StoredData } from '@gatehouse/persistence';
import { ROOT } from '../smoke/launched-platform.js';

export const SERVICES = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'];

/** What each built service says about its data, in the order of SERVICES. */
export async function storedServices(): Promise<StoredData[]> {
  return Promise.all(
    SERVICES.map(async (name) => {
      const file = join(ROOT, 'apps', name, 'dist/stored-data.js');
      return ((await import(pathToFileURL(file).href)) as { STORED_DATA: StoredData }).STORED_DATA;
    }),
  );
}
