import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCheck } from './check.mjs';
import { launch, runForwarding } from './launch.mjs';
import { OWN, ROOT } from './layout.mjs';
import { prepare } from './prepare.mjs';
import { filesToRepeat, summarize, withRepeatedFiles } from './test-summary.mjs';

function takeResults(file) {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8'));
    renameSync(file, join(OWN, 'logs', 'test-results.json'));
    return results;
  } catch {
    return undefined; // the run was cut short; summarize() says so
  }
}

async function runVitest(runtime, args, more = {}) {
  const file = join(OWN, 'logs', `test-results.${process.pid}.json`);
  mkdirSync(join(OWN, 'logs'), { recursive: true });
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'tools/bootstrap/test-reporter.mjs')}`];
  const env = {
    ...process.env,
    ...more,
    GATEHOUSE_TEST_RESULTS: file,
    // Each test file, and each service that one starts, is a process of its own: they load what another has compiled.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(OWN, 'compile-cache'),
    GATEHOUSE_PEERS_BIN: process.env.GATEHOUSE_PEERS_BIN ?? join(OWN, 'peers', 'bin'),
  };
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const vitestCode = await runForwarding(runtime, [vitest, 'run', ...reporters, ...args], { env, cwd: ROOT });
  return { vitestCode, results: takeResults(file) };
}

/**
 * On a build machine the files with failures run once more, one at a time: what fails again fails whatever else the machine
 * does. The summary names what passed only then.
 */
async function runAndRepeat(runtime, args, isCi) {
  const first = await runVitest(runtime, args);
  const files = isCi && first.results !== undefined ? filesToRepeat(first.results) : [];
  if (files.length === 0) return first;
  process.stdout.write(`\nFiles with failures, once more and one at a time: ${files.join(', ')}\n`);
  const second = await runVitest(runtime, ['--no-file-parallelism', ...files]);
  if (second.results === undefined) return first;
  const vitestCode = first.results.errors > 0 ? first.vitestCode : second.vitestCode;
  return { vitestCode, results: withRepeatedFiles(first.results, second.results) };
}

/** `npm test`: with CI=true also the peers first and `npm run check` (a failure there is reported at the end as well). */
export async function runTests(args) {
  const isCi = ['true', '1'].includes(process.env.CI ?? '');
  const runtime = await prepare();
  let checkCode = 0;
  if (isCi) {
    // One waits for the network, the other for the processor.
    const checked = runCheck(runtime, { testsFollow: args.length === 0 });
    await launch(runtime, 'peers', []);
    checkCode = await checked;
  }
  const { vitestCode, results } = await runAndRepeat(runtime, args, isCi);
  const { text, code } = summarize(results, { vitestCode, isCi });
  if (checkCode !== 0) process.stdout.write('\nnpm run check failed (see above).\n');
  process.stdout.write(text);
  return code || checkCode;
}

/** What is promised of other versions than the pinned ones; the files run a part of it in `npm test`. */
const RUNTIME_TESTS = ['test/interop/agent-', 'test/smoke/external-database', 'test/smoke/runtime-libraries'];

/** `npm run runtimes`: a runtime that cannot be brought fails it. */
export async function runRuntimes(runtime, args) {
  await launch(runtime, 'peers', []);
  const more = { GATEHOUSE_TEST_RUNTIMES: 'all', CI: 'true' };
  const { vitestCode, results } = await runVitest(runtime, [...RUNTIME_TESTS, ...args], more);
  const { text, code } = summarize(results, { vitestCode, isCi: true });
  process.stdout.write(text);
  return code;
}
