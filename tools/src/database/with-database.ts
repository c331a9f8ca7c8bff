import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkDatabaseServer, DatabaseServerError } from '@gatehouse/persistence/server';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localized, localizedText } from '../../bootstrap/language.mjs';
import { openDatabase } from '../supervisor/database.js';
import { takeHome } from '../supervisor/home-lock.js';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { runningState } from '../supervisor/state-file.js';

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The address of the database of the running platform, or the one given by DATABASE_URL. */
export function runningDatabaseUrl(env: NodeJS.ProcessEnv): string {
  const settings = readPlatformSettings(env);
  const url = settings.databaseUrl ?? runningState(settings.home)?.databaseUrl;
  if (url !== undefined) return url;
  throw new PlainFailure(
    localized(
      `no platform runs in ${settings.home}, so its database has no address now.`,
      `${settings.home} 中没有平台在运行，其数据库目前没有地址。`,
    ),
    {
      advice: [
        localized(
          'Start it (npm start), or name another home in GATEHOUSE_HOME.',
          '请启动平台（npm start），或用 GATEHOUSE_HOME 指定另一个数据目录。',
        ),
      ],
    },
  );
}

export interface DatabaseNeeds {
  /** Refuse while the platform runs. */
  needsStopped?: boolean;
  /** Refuse a home without a database instead of making one in it. */
  mustExist?: boolean;
}

/**
 * Hands out the database of this environment: the external one, that of the running platform, or, when the platform is
 * stopped, the embedded one, started just for this.
 */
export async function withDatabase<T>(
  env: NodeJS.ProcessEnv,
  { needsStopped = false, mustExist = false }: DatabaseNeeds,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const settings = readPlatformSettings(env);
  const state = runningState(settings.home);
  if (state !== undefined && needsStopped) {
    throw new PlainFailure(
      localized(
        `Gatehouse runs in ${settings.home} (pid ${state.pid}); it must be stopped for this.`,
        `Gatehouse 正在 ${settings.home} 中运行（进程 ${state.pid}），执行此操作前必须停止。`,
      ),
      {
        advice: [
          localized(
            `Stop it (Ctrl-C, or kill ${state.pid}) and repeat.`,
            `请停止它（Ctrl-C，或 kill ${state.pid}）后重试。`,
          ),
        ],
      },
    );
  }
  if (settings.databaseUrl !== undefined) await checkServer(settings.databaseUrl);
  const url = settings.databaseUrl ?? state?.databaseUrl;
  if (url !== undefined) return use(url);
  if (mustExist && !existsSync(join(settings.home, 'postgres'))) {
    throw new PlainFailure(localized(`there is no database in ${settings.home}.`, `${settings.home} 中没有数据库。`), {
      advice: [
        localized(
          'Name the home of the platform in GATEHOUSE_HOME, or its database in DATABASE_URL.',
          '请用 GATEHOUSE_HOME 指定平台的数据目录，或用 DATABASE_URL 指定其数据库。',
        ),
      ],
    });
  }
  const lock = await takeHome(settings.home, say);
  try {
    const database = await openDatabase({ ...settings, notify: say, onRestart: () => undefined });
    try {
      return await use(database.url);
    } finally {
      await database.stop();
    }
  } finally {
    lock.release();
  }
}

/** @throws PlainFailure for a PostgreSQL that is too old, and for a pooler that keeps no session. */
async function checkServer(url: string): Promise<void> {
  try {
    await checkDatabaseServer(url);
  } catch (cause) {
    if (cause instanceof DatabaseServerError) {
      throw new PlainFailure(localizedText(cause.text), { cause });
    }
    throw cause;
  }
}
