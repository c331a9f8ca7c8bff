import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const IN_PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\/(.*)$/;

function versionOf(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return undefined; // not a package of its own
  }
}

/**
 * For the bundler: npm sometimes puts one version of a package at several places of node_modules. Of the packages with these
 * names a program holds each version once, and loads it once.
 */
export function oneCopyEach(names) {
  const versions = new Map();
  const folders = new Map();

  function folderOf(name, folder) {
    if (!versions.has(folder)) versions.set(folder, versionOf(folder));
    const version = versions.get(folder);
    if (version === undefined) return folder;
    const key = `${name}@${version}`;
    if (!folders.has(key)) folders.set(key, folder);
    return folders.get(key);
  }

  return {
    name: 'one-copy-each',
    resolveId: {
      filter: { id: new RegExp(`^(?:${names.join('|')})(?:/|$)`) },
      async handler(source, importer, options) {
        const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
        const [, folder, name, path] = IN_PACKAGE.exec(resolved?.id ?? '') ?? [];
        return folder === undefined ? resolved : { ...resolved, id: join(folderOf(name, folder), path) };
      },
    },
  };
}
