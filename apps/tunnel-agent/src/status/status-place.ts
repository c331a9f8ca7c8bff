import { lstatSync, readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makePrivateFolder } from '@gatehouse/net';
import type { Environment } from '../options/settings.js';

const NAME = 'gatehouse-agent';
const PIPES = '\\\\.\\pipe\\';
/** Agents of one user that are asked. */
const MAX_AGENTS = 64;
/** What fits into the address of a Unix socket on every system. */
const MAX_PATH_BYTES = 103;

/** Where agents of this user can be asked: sockets in a folder of its own, or pipes on Windows. */
export class StatusPlace {
  /** Null: Windows. */
  private readonly folder: string | null;

  constructor(folder: string | null) {
    this.folder = folder;
  }

  /** The folder that systemd made for the service, or the one that it would make for this user. */
  static of(environment: Environment): StatusPlace {
    if (process.platform === 'win32') return new StatusPlace(null);
    const made = environment['RUNTIME_DIRECTORY']?.split(':')[0];
    if (made) return new StatusPlace(made);
    if (process.getuid?.() === 0)
      return new StatusPlace(join(process.platform === 'linux' ? '/run' : '/var/run', NAME));
    const runtime = environment['XDG_RUNTIME_DIR'];
    return new StatusPlace(runtime ? join(runtime, NAME) : join(environment['HOME'] ?? homedir(), `.${NAME}`, 'run'));
  }

  /** A new address for an agent. @throws Error if others could write there */
  prepare(id: string): string {
    const { folder } = this;
    if (folder === null) return `${this.pipePrefix}${id}`;
    makePrivateFolder(folder);
    const { uid, mode } = lstatSync(folder);
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
      throw new Error(`${folder} is not a folder of this user alone (mode 0700)`);
    }
    const path = join(folder, `${id}.sock`);
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Error(`${path} is longer than ${MAX_PATH_BYTES} bytes`);
    return path;
  }

  /** Addresses of agents, some of which may have ended. @throws Error if the folder cannot be read. */
  list(folder = this.folder): string[] {
    const paths =
      folder === null
        ? readdirSync(PIPES)
            .map((name) => `${PIPES}${name}`)
            .filter((path) => path.startsWith(this.pipePrefix))
        : namesIn(folder)
            .map((name) => join(folder, name))
            .filter((path) => path.endsWith('.sock'));
    return paths.toSorted().slice(0, MAX_AGENTS);
  }

  /** As `list`, with the agents of services that have a name of their own. */
  listAll(): string[] {
    const { folder } = this;
    if (folder === null) return this.list();
    const [parent, own] = [dirname(folder), basename(folder)];
    const named = namesIn(parent).filter((name) => name.startsWith(`${own}-`));
    return [folder, ...named.map((name) => join(parent, name))].flatMap((one) => this.list(one)).slice(0, MAX_AGENTS);
  }

  private get pipePrefix(): string {
    return `${PIPES}${NAME}-${userInfo().username}-`;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
