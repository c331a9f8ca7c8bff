import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { OWN, ROOT } from './layout.mjs';
import { startStep } from './progress.mjs';

const bin = (path) => join(ROOT, 'node_modules', path);

/** Prettier remembers by content which files it found well formatted. */
const CACHE = ['--cache', '--cache-strategy', 'content', '--cache-location', join(OWN, 'prettier-cache.json')];
const PRETTIER = [bin('prettier/bin/prettier.cjs'), ...CACHE];
const FORMAT = { name: 'format', args: [...PRETTIER, '--check', '.'] };
const LINT = { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--type-aware'] };
const TYPES = { name: 'types', args: [bin('typescript/bin/tsc'), '-b', '--pretty', 'false'] };
const SPEC_TYPES = {
  name: 'types of tests',
  args: [bin('typescript/bin/tsc'), '-p', 'tsconfig.tests.json', '--pretty', 'false'],
};
const ARCHITECTURE = {
  name: 'architecture',
  args: [bin('vitest/vitest.mjs'), 'run', 'test/architecture', '--reporter=dot'],
};

// Two lanes for two cores. Tests and the linter's types read what the compiler writes, so they come after it.
const FIRST = [[FORMAT], [TYPES]];
const THEN = [[LINT], [SPEC_TYPES]];
const WITH_ARCHITECTURE = [[LINT], [SPEC_TYPES, ARCHITECTURE]];

function runTask(runtime, { name, args }) {
  const started = Date.now();
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(runtime, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (chunk) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const finish = (code) => resolve({ name, code, output, seconds: (Date.now() - started) / 1000 });
    child.on('error', (error) => {
      keep(error.message);
      finish(1);
    });
    child.on('close', (code) => finish(code ?? 1));
  });
}

async function runLane(runtime, tasks) {
  const results = [];
  for (const task of tasks) results.push(await runTask(runtime, task));
  return results;
}

/**
 * `npm run check`: everything that can be said without running the program, in one table. `testsFollow`: a run of all tests comes
 * next, and has those of the architecture.
 */
export async function runCheck(runtime, { testsFollow = false } = {}) {
  const step = startStep(
    testsFollow ? 'Checking format, lint and types' : 'Checking format, lint, types and architecture',
  );
  const results = [];
  for (const lanes of [FIRST, testsFollow ? THEN : WITH_ARCHITECTURE]) {
    results.push(...(await Promise.all(lanes.map((tasks) => runLane(runtime, tasks)))).flat());
  }
  const failed = results.filter(({ code }) => code !== 0);
  if (failed.length === 0) step.end();
  else step.fail();
  for (const { name, output } of failed) process.stdout.write(`\n--- ${name}\n${output.trimEnd()}\n`);
  process.stdout.write('\n');
  for (const { name, code, seconds } of results) {
    process.stdout.write(`${name.padEnd(16)}${code === 0 ? 'ok' : 'FAILED'}`.padEnd(26) + `${seconds.toFixed(1)} s\n`);
  }
  return failed.length === 0 ? 0 : 1;
}

export async function runFormat(runtime) {
  const { code, output } = await runTask(runtime, {
    name: 'format',
    args: [...PRETTIER, '--write', '--list-different', '.'],
  });
  process.stdout.write(output === '' ? 'Nothing to format.\n' : output);
  return code;
}
