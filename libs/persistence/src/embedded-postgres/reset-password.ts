import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import type { ClusterHome } from './cluster-home.js';
import { EmbeddedPostgresError } from './errors.js';
import { underAccount } from './privileged-command.js';

/**
 * Sets the superuser's recorded password through PostgreSQL's single-user mode, for the case that `postgres.json` was
 * lost and the data was not. The server must not run.
 * @throws START_FAILED
 */
export async function resetPassword(home: ClusterHome): Promise<void> {
  const { user, password } = home.record;
  const program = join(home.native, 'bin', 'postgres');
  const { command, args, ...identity } = underAccount(home.account, 'KILL', program, [
    '--single',
    '-D',
    home.data,
    '-c',
    'log_min_error_statement=panic',
    'postgres',
  ]);
  const child = spawn(command, args, { ...identity, cwd: home.record.cluster, stdio: ['pipe', 'ignore', 'pipe'] });
  let report = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    report = (report + text).slice(-4_000);
  });
  child.stdin.on('error', () => undefined);
  // Both values are our own: an identifier and base64url, so there is nothing to escape.
  child.stdin.end(`ALTER ROLE "${user}" PASSWORD '${password}'\n`);
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  if (failure === undefined && !report.includes('ERROR')) return;
  throw new EmbeddedPostgresError(
    'START_FAILED',
    bilingual(
      `The password of the database in ${home.data} could not be reset: ${report.trim() || failure}`,
      `无法重置 ${home.data} 中数据库的密码：${report.trim() || failure}`,
    ),
  );
}
