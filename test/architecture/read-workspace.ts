import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Workspace, WorkspacePackage } from './check-imports.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SKIPPED = new Set(['node_modules', 'dist', '.gatehouse', '.git', 'coverage']);

/** The workspace as it lies on disk. */
export function readWorkspace(): Workspace {
  const directories = ['apps', 'libs'].flatMap((group) =>
    readdirSync(path.join(ROOT, group), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${group}/${entry.name}`),
  );
  const packages = ['', ...directories].map(readPackage);
  packages.push({ directory: 'tools', declared: packages[0]!.declared });
  const files = new Map<string, string>();
  for (const top of ['apps', 'libs', 'tools', 'test']) collect(top, files);
  return { packages, files };
}

function readPackage(directory: string): WorkspacePackage {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, directory, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string> | undefined
  >;
  const declared = ['dependencies', 'devDependencies', 'peerDependencies'].flatMap((field) =>
    Object.keys(manifest[field] ?? {}),
  );
  return { directory, declared };
}

function collect(directory: string, files: Map<string, string>): void {
  for (const entry of readdirSync(path.join(ROOT, directory), { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const relative = `${directory}/${entry.name}`;
    if (entry.isDirectory()) collect(relative, files);
    else if (/\.tsx?$/.test(entry.name)) files.set(relative, readFileSync(path.join(ROOT, relative), 'utf8'));
  }
}
