import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SYSTEM_LISTS = '/var/lib/apt/lists';
const COMMAND_TIMEOUT_MS = 300_000;

export interface DebFile {
  /** `name=version`, as apt-get download wants it. */
  request: string;
  file: string;
}

/** True on a system whose packages apt-get and dpkg handle. */
export function isDebianLike(): boolean {
  return existsSync('/usr/bin/apt-get') && existsSync('/usr/bin/dpkg') && existsSync('/var/lib/dpkg/status');
}

export function hasSystemLists(folder = SYSTEM_LISTS): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => /_Packages(\.|$)/.test(name));
}

/** Reads the answer of `apt-get --print-uris`: `'uri' file size hash`, one package a line. */
export function parseUris(text: string): DebFile[] {
  return text.split('\n').flatMap((line) => {
    const file = /^'[^']+' (\S+\.deb) /.exec(line)?.[1];
    if (file === undefined) return [];
    const [name = '', version = ''] = file.split('_');
    return [{ request: `${name}=${decodeURIComponent(version)}`, file }];
  });
}

/**
 * apt-get as a mere downloader: it takes no lock of the system and changes nothing there. `privateLists` makes it
 * keep package lists of its own, for systems (containers) that have none or old ones.
 */
export class Apt {
  private readonly options: string[];

  constructor(
    private readonly folder: string,
    private readonly privateLists: boolean,
  ) {
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'archives', 'partial'), { recursive: true });
    this.options = ['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=root', '-o', `Dir::Cache=${cache}`];
    if (!privateLists) return;
    const state = join(folder, 'state');
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
    this.options.push('-o', `Dir::State=${state}`, '-o', 'Dir::State::status=/var/lib/dpkg/status');
  }

  async update(): Promise<void> {
    if (this.privateLists) await this.apt(['update', '-qq']);
  }

  /** Packages with those of its dependencies that this system lacks. */
  async filesFor(names: string[]): Promise<DebFile[]> {
    const args = ['install', '-qq', '--print-uris', '--reinstall', '--no-install-recommends', ...names];
    return parseUris(await this.apt(args));
  }

  async download(files: DebFile[], into: string): Promise<void> {
    mkdirSync(into, { recursive: true });
    await this.apt(['download', '-qq', ...files.map(({ request }) => request)], into);
  }

  private async apt(args: string[], cwd = this.folder): Promise<string> {
    try {
      const { stdout } = await run('/usr/bin/apt-get', [...this.options, ...args], {
        cwd,
        timeout: COMMAND_TIMEOUT_MS,
        maxBuffer: 16 * 1024 * 1024,
        env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
      });
      return stdout;
    } catch (cause) {
      throw new Error(`apt-get ${args[0]}: ${firstErrorLine(cause)}`, { cause });
    }
  }
}

function firstErrorLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = text.split('\n');
  return (
    lines.find((line) => line.startsWith('E: '))?.slice(3) ?? (error instanceof Error ? error.message : String(error))
  );
}

export async function unpack(deb: string, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  await run('/usr/bin/dpkg', ['-x', deb, into], { timeout: COMMAND_TIMEOUT_MS });
}
