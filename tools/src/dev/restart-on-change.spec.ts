import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { projectsBehind } from './project-references.js';
import { RestartOnChange } from './restart-on-change.js';

let root: string;
let restarted: string[];
let notes: string[];

/** Projects by folder, each with those that it is compiled against. */
const PROJECTS = {
  'libs/net': [],
  'libs/kernel': ['../net'],
  'apps/proxy-gateway': ['../../libs/kernel'],
  'apps/resource-sharing': [],
  'apps/tunnel-gateway': ['../../libs/net'],
};

function compile(project: string, at: number): void {
  utimesSync(join(root, project, 'dist', '.tsbuildinfo'), at, at);
}

function writeProjects(folders: readonly string[]): void {
  const projects = Object.fromEntries(folders.map((folder) => [folder.split('/')[1], { root: folder }]));
  writeFileSync(join(root, 'nest-cli.json'), JSON.stringify({ projects }));
}

function restarts(restart: (name: string) => Promise<void> = async () => undefined): RestartOnChange {
  return new RestartOnChange({
    root,
    notify: (line) => notes.push(line),
    restart: async (name) => {
      restarted.push(name);
      await restart(name);
    },
  });
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'restarts-'));
  [restarted, notes] = [[], []];
  writeProjects(Object.keys(PROJECTS));
  for (const [project, references] of Object.entries(PROJECTS)) {
    mkdirSync(join(root, project, 'dist'), { recursive: true });
    const paths = references.map((path) => ({ path }));
    writeFileSync(join(root, project, 'tsconfig.json'), JSON.stringify({ references: paths }));
    writeFileSync(join(root, project, 'dist', '.tsbuildinfo'), '');
    compile(project, 1);
  }
});
afterEach(() => rmSync(root, { recursive: true }));

it('finds what a project is compiled against, directly or not', () => {
  expect([...projectsBehind('apps/proxy-gateway', root)]).toEqual(['apps/proxy-gateway', 'libs/kernel', 'libs/net']);
});

it('restarts the services that are made of what was compiled, once', async () => {
  const looks = restarts();
  await looks.look();
  expect(restarted).toEqual([]);
  compile('libs/kernel', 2);
  await looks.look();
  expect(restarted).toEqual(['proxy-gateway']);
  compile('libs/net', 2);
  compile('apps/resource-sharing', 2);
  await Promise.all([looks.look(), looks.look()]);
  expect(restarted.toSorted()).toEqual(['proxy-gateway', 'proxy-gateway', 'resource-sharing', 'tunnel-gateway']);
});

it('says why a service did not start, and tries again after the next change', async () => {
  let isBroken = true;
  const looks = restarts(() => (isBroken ? Promise.reject(new Error('it cannot start')) : Promise.resolve()));
  compile('apps/tunnel-gateway', 2);
  await looks.look();
  expect(notes).toEqual(['it cannot start', 'tunnel-gateway is down until its code is compiled again.']);
  isBroken = false;
  compile('apps/tunnel-gateway', 3);
  await looks.look();
  expect(notes.at(-1)).toMatch(/^\[tunnel-gateway\] restarted in/);
});

it('says which service nest-cli.json does not have', () => {
  writeProjects(['apps/proxy-gateway', 'apps/resource-sharing']);
  expect(() => restarts()).toThrow('nest-cli.json has no project tunnel-gateway.');
});

it('does nothing after it was stopped', async () => {
  const looks = restarts();
  await looks.stop();
  compile('apps/tunnel-gateway', 2);
  await looks.look();
  expect(restarted).toEqual([]);
});
