import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Processes {
  readonly cpuSeconds: (pid: number, proc?: string) => number;
}
// Scripts of benchmarks have no types.
const PROCESSES = new URL('../bench/processes.mjs', import.meta.url).href;
const { cpuSeconds } = (await import(/* @vite-ignore */ PROCESSES)) as Processes;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMPORT = /import \{([^}]*)\} from '((?:\.\.\/)+(?:apps|libs)\/[^']*\/dist\/[^']*)\.js'/g;

/** What a benchmark takes from built files of services, which no compiler checks: `source file` and name. */
function takenBy(file: string): [source: string, name: string][] {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].flatMap(([, names = '', from = '']) => {
    const source = `${normalize(join(dirname(file), from)).replace('/dist/', '/src/')}.ts`;
    return names.split(',').map((name): [string, string] => [source, name.trim()]);
  });
}

describe('benchmarks', () => {
  const taken = globSync('test/bench/**/*.mjs', { cwd: ROOT }).flatMap(takenBy);

  it('import something from the services', () => {
    expect(taken.length).toBeGreaterThan(0);
  });

  it.each(taken)('find in %s what they import: %s', (source, name) => {
    expect(readFileSync(join(ROOT, source), 'utf8')).toMatch(
      new RegExp(`^export (async )?(const|class|function) ${name}\\b`, 'm'),
    );
  });
});

describe('the CPU time of a process and its children', () => {
  /** A process in a folder that looks like /proc. */
  const write = (proc: string, pid: number, parent: number, own: number, ended = 0): void => {
    mkdirSync(join(proc, String(pid)), { recursive: true });
    const before = Array.from({ length: 9 }, () => 0).join(' ');
    writeFileSync(join(proc, `${pid}/stat`), `${pid} (a (b) c) S ${parent} ${before} ${own} 0 ${ended} 0 20\n`);
  };

  it('counts one that ends while it is looked at as it was last seen, and once', () => {
    const proc = mkdtempSync(join(tmpdir(), 'gatehouse-proc-'));
    try {
      write(proc, 10, 1, 100);
      write(proc, 11, 10, 50);
      write(proc, 12, 11, 25);
      write(proc, 13, 1, 7_000);
      expect(cpuSeconds(10, proc)).toBe(1.75);
      // It is still listed, and can no longer be read.
      rmSync(join(proc, '12/stat'));
      expect(cpuSeconds(10, proc)).toBe(1.75);
      rmSync(join(proc, '12'), { recursive: true });
      write(proc, 11, 10, 60, 30);
      expect(cpuSeconds(10, proc)).toBe(1.9);
      expect(() => cpuSeconds(12, proc)).toThrow('there is no process 12');
    } finally {
      rmSync(proc, { recursive: true });
    }
  });

  it.runIf(process.platform === 'linux')('never fails and never falls while children come and go', async () => {
    const work =
      'i=0; while [ $i -lt 150 ]; do (j=0; while [ $j -lt 300 ]; do j=$((j+1)); done); i=$((i+1)); done; cat';
    const shell = spawn('sh', ['-c', `${work}; exit`], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(shell, 'spawn');
    const seen = [0];
    shell.stdin.end('done');
    let over = false;
    shell.stdout.on('data', () => (over = true));
    while (!over) {
      if (shell.exitCode !== null) break;
      seen.push(cpuSeconds(process.pid));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen.length).toBeGreaterThan(3);
    // A tick of each process may be on its way from child to parent.
    for (let index = 1; index < seen.length; index += 1) {
      expect(seen[index]).toBeGreaterThan((seen[index - 1] ?? 0) - 0.1);
    }
    if (shell.exitCode === null) await once(shell, 'exit');
  });
});
