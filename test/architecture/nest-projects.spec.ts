import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readWorkspace } from './read-workspace.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Nest's command line could do nothing there: a site, and a program without a framework. */
const WITHOUT_NEST = ['apps/console', 'apps/tunnel-agent'];

interface Project {
  type: string;
  root: string;
  entryFile: string;
  sourceRoot: string;
  compilerOptions: { tsConfigPath: string };
}

const { projects } = JSON.parse(readFileSync(join(ROOT, 'nest-cli.json'), 'utf8')) as {
  projects: Record<string, Project>;
};

it('nest-cli.json has every service and every library, each under the name of its folder', () => {
  const directories = readWorkspace().packages.map(({ directory }) => directory);
  const wanted = directories.filter((one) => /^(?:apps|libs)\//.test(one) && !WITHOUT_NEST.includes(one));
  expect(Object.entries(projects).map(([name, { root }]) => [name, root])).toEqual(
    expect.arrayContaining(wanted.map((directory) => [directory.split('/')[1], directory])),
  );
  expect(Object.keys(projects)).toHaveLength(wanted.length);
});

it.each(Object.entries(projects))('%s is in the folder that nest-cli.json names', (_name, project) => {
  expect(project.type).toBe(project.root.startsWith('apps/') ? 'application' : 'library');
  expect(project.sourceRoot).toBe(`${project.root}/src`);
  expect(existsSync(join(ROOT, project.sourceRoot, `${project.entryFile}.ts`))).toBe(true);
  expect(project.compilerOptions.tsConfigPath).toBe(`${project.root}/tsconfig.json`);
});
