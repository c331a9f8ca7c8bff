import path from 'node:path/posix';
import { importsOf, type Violation, type Workspace } from './check-imports.js';
import { isTestFile } from './import-rules.js';

export type FolderLayers = Readonly<Record<string, readonly (readonly string[])[]>>;
export type ProcessFolders = Readonly<Record<string, readonly string[]>>;

/**
 * Imports of values that go up, sideways, or into a folder that runs in another process, and folders that the table does not
 * name. Types may come from anywhere.
 */
export function checkFolders(
  { files }: Pick<Workspace, 'files'>,
  layers: FolderLayers,
  processes: ProcessFolders = {},
): Violation[] {
  return [...files].flatMap(([file, source]) => {
    const [directory = '', inside = ''] = file.split('/src/');
    const table = layers[directory];
    if (table === undefined || isTestFile(file) || !inside.includes('/')) return [];
    return checkFile({ file, directory, source, table, processes: processes[directory] ?? [] });
  });
}

interface FileInLayers {
  file: string;
  directory: string;
  source: string;
  table: readonly (readonly string[])[];
  processes: readonly string[];
}

function checkFile({ file, directory, source, table, processes }: FileInLayers): Violation[] {
  const folderOf = (name: string): string => path.relative(`${directory}/src`, name).split('/')[0] ?? '';
  const own = folderOf(file);
  const height = layerOf(table, own);
  if (height === -1) return [{ file, message: `the folder ${own} is in no layer of ${directory}` }];
  const found: Violation[] = [];
  for (const { specifier, typeOnly } of importsOf(file, source)) {
    if (typeOnly || !specifier.startsWith('.')) continue;
    const target = path.join(path.dirname(file), specifier);
    const folder = folderOf(target);
    const isBeside = path.dirname(target) === `${directory}/src`;
    if (isBeside || folder === own) continue;
    if (layerOf(table, folder) >= height) {
      found.push({ file, message: `${own} may not import ${folder}, which is not in a layer below it` });
    } else if (processes.includes(folder)) {
      found.push({ file, message: `${own} may not import ${folder}, which runs in a process of its own` });
    }
  }
  return found;
}

function layerOf(table: readonly (readonly string[])[], folder: string): number {
  return table.findIndex((layer) => layer.includes(folder));
}

/** Packages with folders that neither list names, and names of what is not there. */
export function unlisted(
  { files }: Pick<Workspace, 'files'>,
  layers: FolderLayers,
  others: readonly string[],
): string[] {
  const present = new Map<string, Set<string>>();
  for (const file of files.keys()) {
    const [, directory, folder] = /^((?:apps|libs)\/[^/]+)\/src\/([^/]+)\/./.exec(file) ?? [];
    if (directory === undefined || folder === undefined || isTestFile(file)) continue;
    present.set(directory, (present.get(directory) ?? new Set()).add(folder));
  }
  const named = Object.entries(layers).flatMap(([directory, table]) =>
    table.flat().map((folder) => [directory, folder] as const),
  );
  return [
    ...[...present.keys()].filter((directory) => !(directory in layers) && !others.includes(directory)),
    ...named.filter(([directory, folder]) => !present.get(directory)?.has(folder)).map((names) => names.join('/src/')),
  ];
}
