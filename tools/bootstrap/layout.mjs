import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder, whatever the working directory is. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** What the scripts keep for themselves: runtime, logs, stamps. Not to be mixed up with GATEHOUSE_HOME, which may be elsewhere. */
export const OWN = join(ROOT, '.gatehouse');

/** Every TypeScript project that `tsc -b` builds from source, as folders relative to the root. */
export function projectFolders(root = ROOT) {
  const folders = ['tools'];
  for (const group of ['libs', 'apps']) {
    if (!existsSync(join(root, group))) continue;
    for (const name of readdirSync(join(root, group)).sort()) {
      if (existsSync(join(root, group, name, 'tsconfig.json'))) folders.push(`${group}/${name}`);
    }
  }
  return folders;
}
