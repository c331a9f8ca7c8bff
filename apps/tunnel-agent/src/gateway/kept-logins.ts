import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makePrivateFolder, writePrivate } from '@gatehouse/net';
import { Complaint, fileReason } from '../options/command-line.js';
import type { Environment } from '../options/settings.js';

/** What the gateway gave this machine when its user logged in. */
export interface KeptLogin {
  api_key: string;
  username: string;
}

const SUFFIX = '.json';

/** Logins of this user, in a file of mode 0600 for each gateway. */
export class KeptLogins {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** In the folder that the system has for settings of programs. */
  static of(environment: Environment): KeptLogins {
    const home = environment['HOME'] ?? homedir();
    const settings =
      process.platform === 'win32'
        ? (environment['APPDATA'] ?? join(home, 'AppData', 'Roaming'))
        : environment['XDG_CONFIG_HOME'] || join(home, '.config');
    return new KeptLogins(join(settings, 'gatehouse-agent', 'gateways'));
  }

  pathOf(gateway: string): string {
    return join(this.folder, `${encodeURIComponent(gateway)}${SUFFIX}`);
  }

  /** Addresses of gateways. */
  gateways(): string[] {
    const names = ((): string[] => {
      try {
        return readdirSync(this.folder);
      } catch {
        return [];
      }
    })();
    return names.flatMap((name) => (name.endsWith(SUFFIX) ? [decoded(name.slice(0, -SUFFIX.length))] : [])).toSorted();
  }

  /** Undefined: there is none. @throws Complaint for a file that cannot be read */
  find(gateway: string): KeptLogin | undefined {
    const path = this.pathOf(gateway);
    try {
      const { api_key: key, username } = JSON.parse(readFileSync(path, 'utf8')) as Partial<KeptLogin>;
      if (!/^gtk_\w+$/.test(key ?? '')) throw new Error('not a login');
      return { api_key: key ?? '', username: username ?? '' };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Complaint((words) => words.text('usage.file', { path, reason: fileReason(error, words) }), {
        cause: error,
      });
    }
  }

  /** Returns the path. */
  keep(gateway: string, login: KeptLogin): string {
    const path = this.pathOf(gateway);
    makePrivateFolder(this.folder);
    writePrivate(path, `${JSON.stringify(login)}\n`);
    return path;
  }

  /** Also removes the folders that are empty then. */
  remove(gateway: string): void {
    rmSync(this.pathOf(gateway), { force: true });
    try {
      const above = dirname(this.folder);
      for (const folder of [this.folder, above, dirname(above)]) rmdirSync(folder);
    } catch {
      // They are in use, or were never made.
    }
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
