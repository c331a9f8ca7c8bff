import { builtinModules } from 'node:module';
import path from 'node:path/posix';
import { parseSync } from 'vite';
import {
  ALLOWED_WORKSPACE_IMPORTS,
  FURTHER_ENTRIES,
  GUARDED_DATA_PLANES,
  PURE_LIBRARIES,
  UNGUARDED_IMPORTS,
  isCatalogueOfApp,
  isTestFile,
  mayReadEnvironment,
} from './import-rules.js';

export interface WorkspacePackage {
  /** `libs/net`, `apps/proxy-gateway`, `tools` or, for the root, an empty string. */
  directory: string;
  /** Names in dependencies, devDependencies and peerDependencies. */
  declared: readonly string[];
}

export interface Workspace {
  packages: readonly WorkspacePackage[];
  /** Path from the root → TypeScript source. */
  files: ReadonlyMap<string, string>;
}

export interface Violation {
  file: string;
  message: string;
}

const SCOPE = '@gatehouse/';
const BUILTINS = new Set(builtinModules);

interface Import {
  specifier: string;
  typeOnly: boolean;
}

/** Every module a source names, static, re-exported and dynamic. */
export function importsOf(file: string, source: string): Import[] {
  const { module } = parseSync(file, source);
  const found: Import[] = [];
  for (const statement of module.staticImports) {
    const typeOnly = statement.entries.length > 0 && statement.entries.every((entry) => entry.isType);
    found.push({ specifier: statement.moduleRequest.value, typeOnly });
  }
  for (const statement of module.staticExports) {
    for (const entry of statement.entries) {
      if (entry.moduleRequest) found.push({ specifier: entry.moduleRequest.value, typeOnly: entry.isType });
    }
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const text = source.slice(moduleRequest.start, moduleRequest.end);
    const literal = /^['"`]([^'"`$]+)['"`]$/.exec(text);
    if (literal) found.push({ specifier: literal[1]!, typeOnly: false });
  }
  return found;
}

/** All breaches of the import table, deep imports, undeclared dependencies, cycles and stray reads of the environment. */
export function checkWorkspace(workspace: Workspace): Violation[] {
  const violations: Violation[] = [];
  const edges = new Map<string, string[]>();
  for (const [file, source] of workspace.files) {
    const imports = importsOf(file, source);
    for (const { specifier } of imports) {
      const message = checkImport(workspace, file, specifier);
      if (message) violations.push({ file, message });
    }
    edges.set(file, relativeTargets(workspace, file, imports));
    for (const message of unguarded(file, source)) violations.push({ file, message });
    if (!mayReadEnvironment(file) && readsEnvironment(file, source)) {
      violations.push({ file, message: 'reads process.env; only settings.ts may' });
    }
  }
  for (const cycle of findCycles(edges)) violations.push({ file: cycle[0]!, message: `cycle: ${cycle.join(' -> ')}` });
  return violations;
}

/** What a data plane makes outside the boundary of a flow: one exception there would end the process. */
function unguarded(file: string, source: string): string[] {
  if (isTestFile(file) || !GUARDED_DATA_PLANES.some((directory) => file.startsWith(`${directory}/src/`))) return [];
  const found = parseSync(file, source).module.staticImports.flatMap(({ moduleRequest, entries }) => {
    const names = UNGUARDED_IMPORTS[moduleRequest.value];
    return entries
      .filter(
        ({ isType, importName }) => names && !isType && (importName.name === null || names.includes(importName.name)),
      )
      .map(
        ({ importName }) =>
          `imports ${importName.name ?? '*'} of ${moduleRequest.value}; @gatehouse/net has it guarded`,
      );
  });
  const timers = source.match(/(?<![.\w])set(?:Timeout|Interval|Immediate)\((?!\s*(?:guarded\(|resolve,))/g) ?? [];
  return [...found, ...timers.map((call) => `${call}…) outside the boundary of a flow; use setFlowTimeout or guarded`)];
}

function checkImport(workspace: Workspace, file: string, specifier: string): string | null {
  const owner = packageOf(workspace, file);
  if (specifier.startsWith('.')) {
    const target = path.join(path.dirname(file), specifier);
    const leaves = packageOf(workspace, target).directory !== owner.directory && !isCatalogueOfApp(file, target);
    return leaves ? `reaches into another package by path: ${specifier}` : null;
  }
  if (specifier.startsWith('node:')) return null;
  if (BUILTINS.has(specifier)) return `write node:${specifier} for the built-in module`;
  return specifier.startsWith(SCOPE)
    ? checkWorkspaceImport(file, owner, specifier)
    : checkPublishedImport(workspace, file, owner, specifier);
}

function checkWorkspaceImport(file: string, owner: WorkspacePackage, specifier: string): string | null {
  const entry = specifier.slice(SCOPE.length);
  const [name = ''] = entry.split('/');
  if (entry !== name && !FURTHER_ENTRIES.includes(entry)) {
    return `deep import of ${specifier}; import the package itself`;
  }
  if (isTestFile(file)) return null;
  if (name === 'testing') return '@gatehouse/testing belongs in specs and test/ only';
  const from = path.basename(owner.directory);
  if (from === name) return 'imports itself by name';
  const allowed = ALLOWED_WORKSPACE_IMPORTS[from];
  if (!allowed) return `${from} has no row in the import table`;
  if (!allowed.includes(name)) return `${from} may not import ${name}`;
  if (owner.directory !== 'tools' && !owner.declared.includes(SCOPE + name))
    return `${specifier} is not declared in ${owner.directory}/package.json`;
  return null;
}

function checkPublishedImport(
  workspace: Workspace,
  file: string,
  owner: WorkspacePackage,
  specifier: string,
): string | null {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!isTestFile(file)) {
    const pure = PURE_LIBRARIES[path.basename(owner.directory)];
    if (pure && !pure.includes(name)) return `${owner.directory} is pure and may not import ${name}`;
  }
  const root = workspace.packages.find((candidate) => candidate.directory === '');
  const rootAllowed = isTestFile(file) || owner.directory === 'tools';
  if (owner.declared.includes(name) || (rootAllowed && root?.declared.includes(name))) return null;
  if (isTestFile(file) && workspace.packages.some((candidate) => candidate.declared.includes(name))) return null;
  return `${name} is not declared in ${owner.directory || 'the root'}/package.json`;
}

function packageOf(workspace: Workspace, file: string): WorkspacePackage {
  const owners = workspace.packages.filter(({ directory }) => directory === '' || file.startsWith(`${directory}/`));
  return owners.reduce((best, candidate) => (candidate.directory.length > best.directory.length ? candidate : best));
}

/** Imports inside the workspace's own files. Those of types make no circle at run time, but files that nobody can read alone. */
function relativeTargets(workspace: Workspace, file: string, imports: readonly Import[]): string[] {
  return imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => path.join(path.dirname(file), specifier.replace(/\.js$/, '')))
    .flatMap((target) => [`${target}.ts`, `${target}.tsx`])
    .filter((target) => workspace.files.has(target));
}

function readsEnvironment(file: string, source: string): boolean {
  const { comments } = parseSync(file, source);
  let code = source;
  for (const { start, end } of comments) code = code.slice(0, start) + ' '.repeat(end - start) + code.slice(end);
  return (
    /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\s*\[\s*['"]env['"]/.test(code) ||
    /import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*['"]node:process['"]/.test(code)
  );
}

/** Each cycle once, as the path that closes it. Depth-first with an explicit stack, so depth is no limit. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[][] = [];
  for (const start of edges.keys()) {
    if (state.has(start)) continue;
    const stack: { node: string; next: number }[] = [{ node: start, next: 0 }];
    state.set(start, 'open');
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const target = edges.get(top.node)?.[top.next++];
      if (target === undefined) {
        state.set(top.node, 'done');
        stack.pop();
      } else if (!state.has(target)) {
        state.set(target, 'open');
        stack.push({ node: target, next: 0 });
      } else if (state.get(target) === 'open') {
        const trail = stack.map(({ node }) => node);
        cycles.push([...trail.slice(trail.indexOf(target)), target]);
      }
    }
  }
  return cycles;
}
