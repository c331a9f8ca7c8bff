import path from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { checkWorkspace, importsOf, type Workspace } from './check-imports.js';
import { readWorkspace } from './read-workspace.js';

const PACKAGES: Workspace['packages'] = [
  { directory: '', declared: ['vitest'] },
  { directory: 'libs/contracts', declared: [] },
  { directory: 'libs/net', declared: [] },
  { directory: 'libs/proxy-kernel', declared: ['@gatehouse/net'] },
  { directory: 'libs/persistence', declared: ['@gatehouse/contracts', 'typeorm'] },
  { directory: 'libs/testing', declared: [] },
  { directory: 'apps/proxy-gateway', declared: ['@gatehouse/persistence', '@nestjs/common'] },
  { directory: 'apps/tunnel-gateway', declared: [] },
  { directory: 'apps/console', declared: ['@gatehouse/contracts', 'preact'] },
];

function breachesOf(files: Record<string, string>): string[] {
  return checkWorkspace({ packages: PACKAGES, files: new Map(Object.entries(files)) }).map(
    ({ file, message }) => `${file}: ${message}`,
  );
}

describe('the workspace', () => {
  it('keeps every import rule', () => {
    const workspace = readWorkspace();
    expect(workspace.files.size).toBeGreaterThan(30);
    expect(checkWorkspace(workspace)).toEqual([]);
  });

  it('has no interceptor that Nest runs for every request', () => {
    const users = [...readWorkspace().files].filter(
      ([file, text]) => text.includes('APP_INTERCEPTOR') && !file.endsWith('.spec.ts'),
    );
    expect(users.map(([file]) => file)).toEqual(['libs/platform/src/service/selective-interceptors.ts']);
  });

  it('starts PostgreSQL without loading TypeORM or Nest', () => {
    const loaded = loadedBy(readWorkspace().files, 'libs/persistence/src/server.ts');
    expect(loaded).toContain('pg');
    expect([...loaded].filter((name) => /^(?:typeorm|@nestjs\/|reflect-metadata)/.test(name))).toEqual([]);
  });
});

/** Packages and modules that a source loads, and those that they load; libraries of the workspace by their sources. */
function loadedBy(files: ReadonlyMap<string, string>, file: string, loaded = new Set<string>()): ReadonlySet<string> {
  for (const { specifier, typeOnly } of importsOf(file, files.get(file) ?? '')) {
    if (typeOnly) continue;
    const [, library] = /^@gatehouse\/([^/]+)$/.exec(specifier) ?? [];
    const module = specifier.startsWith('.')
      ? path.join(path.dirname(file), specifier.replace(/\.js$/, '.ts'))
      : library && `libs/${library}/src/index.ts`;
    if (loaded.has(module ?? specifier)) continue;
    loaded.add(module ?? specifier);
    if (module !== undefined) loadedBy(files, module, loaded);
  }
  return loaded;
}

describe('the checker fails', () => {
  it.each([
    ['a lib that imports an app', 'libs/persistence/src/a.ts', `import '@gatehouse/proxy-gateway';`, /may not import/],
    ['an app that imports an app', 'apps/proxy-gateway/src/a.ts', `import '@gatehouse/tunnel-gateway';`, /may not/],
    ['a kernel that imports Nest', 'libs/proxy-kernel/src/a.ts', `import { Module } from '@nestjs/common';`, /is pure/],
    ['a kernel that imports TypeORM lazily', 'libs/proxy-kernel/src/a.ts', `await import('typeorm');`, /is pure/],
    ['a pure lib that imports a sibling', 'libs/net/src/a.ts', `export * from '@gatehouse/contracts';`, /may not/],
    ['a type-only breach', 'libs/net/src/a.ts', `import type { A } from '@gatehouse/contracts';`, /may not import/],
    ['a deep import', 'apps/proxy-gateway/src/a.ts', `import '@gatehouse/persistence/dist/x.js';`, /deep import/],
    ['a path into another package', 'apps/proxy-gateway/src/a.ts', `import '../../../libs/net/src/b.js';`, /by path/],
    ['an undeclared sibling', 'libs/proxy-kernel/src/a.ts', `import '@gatehouse/contracts';`, /not declared/],
    ['an undeclared package', 'libs/persistence/src/a.ts', `import pg from 'pg';`, /pg is not declared/],
    ['the testing lib in a source', 'apps/proxy-gateway/src/a.ts', `import '@gatehouse/testing';`, /specs and test/],
    [
      'a console that imports a server lib',
      'apps/console/src/a.tsx',
      `import '@gatehouse/platform';`,
      /may not import/,
    ],
    ['an unguarded server', 'libs/proxy-kernel/src/a.ts', `import { createServer } from 'node:net';`, /guarded/],
    ['all of a module', 'libs/proxy-kernel/src/a.ts', `import * as http from 'node:http'; http.get('');`, /guarded/],
    ['an unguarded timer', 'libs/proxy-kernel/src/a.ts', `setTimeout(() => undefined, 1);`, /boundary of a flow/],
    ['a bare built-in', 'libs/net/src/a.ts', `import fs from 'fs';`, /write node:fs/],
    ['a read of the environment', 'libs/net/src/a.ts', `export const a = process.env.HOME;`, /process\.env/],
    [
      'an environment read by import',
      'libs/net/src/a.ts',
      `import { env } from 'node:process'; env.A;`,
      /process\.env/,
    ],
  ])('on %s', (_name, file, source, expected) => {
    const breaches = breachesOf({ [file]: source });
    expect(breaches).toHaveLength(1);
    expect(breaches[0]).toMatch(expected);
  });

  it('on a cycle, and names its path', () => {
    const breaches = breachesOf({
      'libs/net/src/a.ts': `import './b.js';`,
      'libs/net/src/b.ts': `import './c.js';`,
      'libs/net/src/c.ts': `import './a.js';`,
    });
    expect(breaches).toEqual([
      'libs/net/src/a.ts: cycle: libs/net/src/a.ts -> libs/net/src/b.ts -> libs/net/src/c.ts -> libs/net/src/a.ts',
    ]);
  });

  it('on a cycle that an import of a type closes', () => {
    const breaches = breachesOf({
      'libs/net/src/a.ts': `import { b } from './b.js'; export const a = b;`,
      'libs/net/src/b.ts': `import type { a } from './a.js'; export const b = 1;`,
    });
    expect(breaches).toEqual(['libs/net/src/a.ts: cycle: libs/net/src/a.ts -> libs/net/src/b.ts -> libs/net/src/a.ts']);
  });

  it('on a cycle of components', () => {
    const breaches = breachesOf({
      'apps/console/src/a.tsx': `import { b } from './b.js'; export const a = b;`,
      'apps/console/src/b.tsx': `import { a } from './a.js'; export const b = a;`,
    });
    expect(breaches[0]).toContain('a.tsx -> apps/console/src/b.tsx');
  });
});

describe('the checker accepts', () => {
  it.each([
    ['what the table allows and package.json declares', 'libs/proxy-kernel/src/a.ts', `import '@gatehouse/net';`],
    ['node built-ins with their scheme', 'libs/net/src/a.ts', `import net from 'node:net';`],
    ['testing in a spec', 'apps/proxy-gateway/src/a.spec.ts', `import '@gatehouse/testing'; import 'vitest';`],
    ['the environment in settings.ts', 'apps/proxy-gateway/src/settings.ts', `export const e = process.env;`],
    ['the word in a comment', 'libs/net/src/a.ts', `// never process.env here\nexport {};`],
  ])('%s', (_name, file, source) => {
    expect(breachesOf({ [file]: source })).toEqual([]);
  });
});
