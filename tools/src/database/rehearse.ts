import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkInvariants,
  restoreDatabase,
  startEmbeddedPostgres,
  type CheckedBackup,
  type ProgressHandler,
} from '@gatehouse/persistence';

/**
 * Restores a backup into an embedded database that is thrown away, and looks whether its data hold together. Prints
 * what it finds and resolves with whether all was well.
 * @throws BackupError for a backup that cannot be restored.
 */
export async function rehearseRestore(
  backup: CheckedBackup,
  print: (line: string) => void,
  onProgress: ProgressHandler,
): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-rehearsal-'));
  // Root's PostgreSQL runs under another account, which has to get to its data.
  if (process.getuid?.() === 0) chmodSync(home, 0o711);
  const started = performance.now();
  try {
    const server = await startEmbeddedPostgres({ home, durable: false });
    try {
      await restoreDatabase(server.url(), backup, { onProgress });
      print(`Restored into a database for this rehearsal in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
      const checks = await checkInvariants(server.url(), backup.stored);
      for (const { service, name, broken } of checks) {
        print(
          `${broken === 0 ? 'ok  ' : 'FAIL'}  ${service}: ${name}${broken === 0 ? '' : `, not so ${broken} times`}`,
        );
      }
      return checks.every(({ broken }) => broken === 0);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
