import { cpSync, existsSync, mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Folders of a package of ours that are sources, or what its build is made with. */
const NOT_SHIPPED = new Set([
  'src',
  'bundle',
  'test',
  'node_modules',
  'tsconfig.json',
  'vite.config.mjs',
  'proxy.html',
  'tunnel.html',
]);
/** Folders at the root of a published package that nothing loads. */
const NEVER_LOADED = new Set(['test', 'tests', '__tests__', 'example', 'examples', 'docs', 'doc', 'man', '.github']);
const LICENCE = /^(licen[cs]e|copying|notice)\b/i;
const NEVER_READ = /\.(map|[cm]?ts|tsx|tsbuildinfo|md|markdown|flow|(spec|test|fixture)\.[cm]?js)$/i;

/** False for what no running process reads: types, source maps, documentation, tests. Licences stay. */
export function isRead(name) {
  return LICENCE.test(name) || !NEVER_READ.test(name);
}

function copyRead(from, to) {
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => statSync(source, { throwIfNoEntry: false })?.isFile() !== true || isRead(basename(source)),
  });
}

function members(root) {
  return ['apps', 'libs'].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`));
}

/** `node_modules` of a folder; links to packages of ours stay links where `isShipped` says so. */
function copyPackages(from, to, isShipped) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.name.startsWith('.')) continue; // npm's own notes, and programs that only developers call
    if (entry.name.startsWith('@')) copyPackages(source, target, isShipped);
    else if (entry.isSymbolicLink()) {
      if (!isShipped(entry.name)) continue;
      mkdirSync(to, { recursive: true });
      symlinkSync(readlinkSync(source), target);
    } else copyPackage(source, target, isShipped);
  }
}

function copyPackage(source, target, isShipped) {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) {
    if (NEVER_LOADED.has(name)) continue;
    if (name === 'node_modules') copyPackages(join(source, name), join(target, name), isShipped);
    else if (isRead(name) || statSync(join(source, name)).isDirectory())
      copyRead(join(source, name), join(target, name));
  }
}

/**
 * Puts what the services load into `out`: `packages/` (dependencies of others) and `app/` (our own code).
 * @param root the workspace, built, with the dependencies of production alone
 */
export function assemble(root, out) {
  const built = members(root).filter((member) => existsSync(join(root, member, 'dist')));
  const isShipped = (name) => built.includes(`libs/${name}`);
  copyPackages(join(root, 'node_modules'), join(out, 'packages/node_modules'), isShipped);
  for (const member of built) {
    const packages = join(root, member, 'node_modules');
    if (existsSync(packages)) copyPackages(packages, join(out, 'packages', member, 'node_modules'), isShipped);
    for (const name of readdirSync(join(root, member))) {
      if (!NOT_SHIPPED.has(name)) copyRead(join(root, member, name), join(out, 'app', member, name));
    }
  }
  // The commands that work beside the services, such as backups on a schedule.
  for (const part of ['dist', 'bootstrap']) {
    const tools = join(root, 'tools', part);
    if (existsSync(tools)) copyRead(tools, join(out, 'app/tools', part));
  }
  cpSync(join(root, 'package.json'), join(out, 'app/package.json'));
}

const [, program, root, out] = process.argv;
if (import.meta.filename === program && root && out) assemble(root, out);
