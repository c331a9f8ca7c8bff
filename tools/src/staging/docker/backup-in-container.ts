import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkBackup } from '@gatehouse/persistence';
import { PlainFailure } from '../../../bootstrap/failure.mjs';
import { loadStoredData } from '../../database/stored-data.js';
import { rehearseRestore } from '../../database/rehearse.js';

const BACKUPS = '/var/lib/gatehouse-backups';

export interface BackupPlaces {
  /** Runs `docker compose` with the project; resolves with what it printed. */
  compose: (...args: string[]) => Promise<string>;
  /** Where the backups are copied to. */
  folder: string;
  /** As the services have it. */
  secretKey: string;
}

/**
 * Starts the container of `--profile backup`, which is healthy when its first backup is written, asks it for another one, and
 * restores both into databases of their own. @throws PlainFailure or BackupError for what does not work.
 */
export async function rehearseBackups(places: BackupPlaces, print: (line: string) => void): Promise<void> {
  const { compose, folder, secretKey } = places;
  const inContainer = (...command: string[]): Promise<string> => compose('exec', '-T', 'backup', ...command);
  await compose('--profile', 'backup', 'up', '--detach', '--wait', '--no-build', 'backup');
  await inContainer('node', 'tools/dist/cli.js', 'backup', `${BACKUPS}/now.gz`);
  const copies = join(folder, 'backups');
  await compose('cp', `backup:${BACKUPS}`, copies);
  const files = readdirSync(copies);
  if (files.length !== 2) throw new PlainFailure(`There are ${files.length} backups, not 2: ${files.join(', ')}`);
  const demands = { stored: await loadStoredData(), keys: [Buffer.from(secretKey, 'base64')] };
  for (const file of files) {
    const broken: string[] = [];
    const note = (line: string): void => void (line.startsWith('FAIL') && broken.push(line));
    await rehearseRestore(await checkBackup(join(copies, file), demands), note, () => undefined);
    if (broken.length > 0) throw new PlainFailure(`${file} does not hold together:`, { advice: broken });
    print(`ok    backup                   ${file} can be restored`);
  }
}
