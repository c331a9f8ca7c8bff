import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkInvariants, restoreDatabase, type CheckedBackup, type ProgressHandler } from '@gatehouse/persistence';
import { startEmbeddedPostgres } from '@gatehouse/persistence/server';
import { localized, localizedText } from '../../bootstrap/language.mjs';

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
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      print(
        localized(
          `Restored into a database for this rehearsal in ${seconds} s.`,
          `已恢复到本次演练的数据库，用时 ${seconds} 秒。`,
        ),
      );
      const checks = await checkInvariants(server.url(), backup.stored);
      for (const { service, name, broken } of checks) {
        const how = broken === 0 ? '' : localized(`, not so ${broken} times`, `，有 ${broken} 处不符`);
        print(`${broken === 0 ? 'ok  ' : 'FAIL'}  ${service}: ${localizedText(name)}${how}`);
      }
      return checks.every(({ broken }) => broken === 0);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
