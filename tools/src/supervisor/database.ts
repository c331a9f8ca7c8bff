import { EmbeddedPostgresError, startEmbeddedPostgres } from '@gatehouse/persistence';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { POSTGRES_PORT_VARIABLE, type PlatformSettings } from './platform-settings.js';

/** The database that the platform works on: started by us, or somebody else's. */
export interface PlatformDatabase {
  url: string;
  isEmbedded: boolean;
  pid: number | undefined;
  /** Resolves when the embedded server has ended, with what to say about it; never for an external one. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

export async function openDatabase(
  settings: Pick<PlatformSettings, 'home' | 'databaseUrl' | 'postgresPort'>,
  log: (line: string) => void,
): Promise<PlatformDatabase> {
  if (settings.databaseUrl !== undefined) {
    const ended = new Promise<string>(() => undefined);
    return { url: settings.databaseUrl, isEmbedded: false, pid: undefined, ended, stop: () => Promise.resolve() };
  }
  try {
    const server = await startEmbeddedPostgres({
      home: settings.home,
      port: settings.postgresPort,
      portVariable: POSTGRES_PORT_VARIABLE,
      log,
    });
    return {
      url: server.url(),
      isEmbedded: true,
      pid: server.pid,
      ended: server.exited.then(() => 'PostgreSQL ended'),
      stop: () => server.stop(),
    };
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw new PlainFailure(cause.message, { cause });
    throw cause;
  }
}
