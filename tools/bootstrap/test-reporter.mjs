import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * Vitest's own JSON report leaves out why a test was skipped (`context.skip('reason')`), which is what people need to
 * know. This one writes what ran, what failed and what was skipped with its reason to GATEHOUSE_TEST_RESULTS.
 */
export default class ResultFileReporter {
  onTestRunEnd(testModules, unhandledErrors) {
    const summary = {
      files: testModules.length,
      passed: 0,
      passedByFile: {},
      failed: [],
      skipped: [],
      flaky: [],
      slowest: slowestOf(testModules),
      errors: unhandledErrors.length,
    };
    for (const module of testModules) {
      const file = nameOf(module);
      for (const test of module.children.allTests()) addTest(summary, file, test);
      summary.passedByFile[file] = [...module.children.allTests('passed')].length;
      // A hook that failed: Vitest calls the tests behind it skipped.
      if (module.state() === 'failed' && !summary.failed.some((test) => test.file === file)) {
        summary.failed.push({ file, name: '(the file itself)' });
      }
    }
    writeFileSync(process.env.GATEHOUSE_TEST_RESULTS, JSON.stringify(summary));
  }
}

const SHOWN_SLOW = 10;

/** Seconds that each of the slowest files took, its imports included. */
function slowestOf(testModules) {
  const files = testModules.map((module) => {
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    return { file: nameOf(module), seconds: (collectDuration + setupDuration + duration) / 1000 };
  });
  return files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN_SLOW);
}

function nameOf(module) {
  return relative(process.cwd(), module.moduleId);
}

function addTest(summary, file, test) {
  const { state, note } = test.result();
  if (state === 'passed') {
    summary.passed++;
    if (test.diagnostic()?.flaky) summary.flaky.push({ file, name: test.fullName });
  } else if (state === 'skipped') summary.skipped.push({ file, name: test.fullName, reason: note });
  else summary.failed.push({ file, name: test.fullName }); // a test that never finished counts as failed
}
