import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const UNITS = join(ROOT, 'deploy', 'systemd');
const EXECUTABLE = '/opt/gatehouse/.gatehouse/node';
const files = globSync('**/*.{service,target,conf}', { cwd: UNITS });
const services = files.filter((file) => file.endsWith('.service'));
const read = (file: string): string => readFileSync(join(UNITS, file), 'utf8');
const operations = ['operations.md', 'tunnel-hosts.md'].map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8'));

/** The programs that a unit starts, relative to the checkout. */
function programsOf(file: string): string[] {
  return [...read(file).matchAll(/^ExecStart=(\S+) (\S+)$/gm)].map(([, node, program]) => {
    expect(node).toBe(EXECUTABLE);
    return program ?? '';
  });
}

/** The environment variables that a unit or the example of the environment file sets. */
function variablesOf(text: string): string[] {
  const inUnits = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = '']) => list.split(' '));
  const inFile = [...text.matchAll(/^[A-Z_]+=/gm)].map(([assignment]) => assignment);
  return [...inUnits, ...inFile].map((assignment) => assignment.split('=')[0] ?? '');
}

describe('the units for systemd', () => {
  it.each(services)('%s starts programs that the build makes', (file) => {
    const programs = programsOf(file);
    expect(programs.length).toBeGreaterThan(0);
    for (const program of programs) {
      const source = program.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
      expect(existsSync(join(ROOT, source)), source).toBe(true);
    }
  });

  it('start every program that docker-compose.yml starts, except for backups', () => {
    const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
    const commands = [...compose.matchAll(/command: \[node, (apps\/[^\],]+)\]/g)].map(([, program]) => program);
    expect(commands.length).toBeGreaterThan(8);
    expect(services.flatMap(programsOf).toSorted()).toEqual(commands.toSorted());
  });

  it('are all wanted by the target, except for the migrations that they require', () => {
    const target = read('gatehouse.target');
    const wanted = [...target.matchAll(/\bgatehouse-[\w-]+\.service/g)].map(([name]) => name);
    const names = services.map((file) => basename(file)).filter((name) => name !== 'gatehouse-migrate.service');
    expect(wanted.toSorted()).toEqual(names.toSorted());
  });

  it('start also where the database comes later: none is left out for a migration that failed at first', () => {
    for (const file of services) expect(read(file), file).not.toMatch(/^(Requires|BindsTo|Requisite)=/m);
    const common = read('gatehouse-.service.d/common.conf');
    expect(common).toMatch(/^Restart=on-failure$/m);
    expect(common).toMatch(/^StartLimitIntervalSec=0$/m);
  });

  it.each([...services, 'gatehouse.env.example'])('%s sets documented variables only', (file) => {
    for (const name of variablesOf(read(file))) {
      const isDocumented = name === 'NODE_ENV' || operations.some((page) => page.includes(name));
      expect(isDocumented, name).toBe(true);
    }
  });

  it('are what systemd-analyze accepts, with Node at a path of this machine', (ctx) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) ctx.skip('systemd-analyze does not run here');
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-units-'));
    try {
      cpSync(UNITS, folder, { recursive: true });
      for (const file of services) {
        writeFileSync(join(folder, file), read(file).replaceAll(EXECUTABLE, process.execPath));
      }
      const units = [...services, 'gatehouse.target'].map((file) => join(folder, file));
      const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` };
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
        encoding: 'utf8',
        env,
      });
      const ours = stderr.split('\n').filter((line) => line.includes('gatehouse'));
      expect(ours).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
