import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// Servers live in sbin, which is not in an ordinary user's PATH.
const ALSO_LOOK_IN = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // absent or not ours to run
  }
}

/** Finds a program in PATH (and the sbin folders), leaving out the folder of our own wrappers. */
export function findInPath(program: string, options: { path: string; except: string }): string | undefined {
  const folders = [...options.path.split(delimiter), ...ALSO_LOOK_IN].filter(
    (folder) => folder !== '' && folder !== options.except,
  );
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

/** Finds a program in a tree unpacked from packages, at `file` if that is said. */
export function findInTree(program: string, root: string, file?: string): string | undefined {
  const places =
    file === undefined ? ['usr/bin', 'usr/sbin', 'bin', 'sbin'].map((folder) => join(folder, program)) : [file];
  return places.map((place) => join(root, place)).find((found) => existsSync(found));
}

/** The folders of an unpacked tree that hold shared libraries, those that packages keep for themselves included. */
export function libraryFolders(root: string): string[] {
  const found: string[] = [];
  for (const base of ['usr/lib', 'lib']) {
    const folder = join(root, base);
    if (!existsSync(folder)) continue;
    found.push(folder);
    for (const name of subfolders(folder).filter((entry) => entry.includes('-linux-'))) {
      const libraries = join(folder, name);
      found.push(
        libraries,
        ...subfolders(libraries)
          .map((own) => join(libraries, own))
          .filter(holdsLibraries),
      );
    }
  }
  return found;
}

function subfolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** Such as libpulsecommon of PulseAudio, which its users find only at its absolute place. */
function holdsLibraries(folder: string): boolean {
  return readdirSync(folder).some((name) => /^lib.*\.so(\.|$)/.test(name));
}
