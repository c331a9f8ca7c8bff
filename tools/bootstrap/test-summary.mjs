const SHOWN_WITHOUT_REASON = 10;
/** More than these say that something is wrong with the machine or the change. */
const MOST_FLAKY = 5;
const MISSING_PEER = /missing peer|peer .*(missing|not (installed|found|available))|not installed/i;
/** Said by tests whose program is brought only when asked for: left out without a failure. */
const BROUGHT_ON_REQUEST = /peers -- --(go|helm|python)/;

export function isMissingPeer(reason) {
  return reason !== undefined && MISSING_PEER.test(reason) && !BROUGHT_ON_REQUEST.test(reason);
}

function skippedLines(skipped) {
  const withReason = skipped.filter(({ reason }) => reason !== undefined);
  const without = skipped.filter(({ reason }) => reason === undefined);
  const lines = byFileAndReason(withReason);
  for (const { file, name } of without.slice(0, SHOWN_WITHOUT_REASON))
    lines.push(`  ${file}: ${name}: no reason given`);
  const more = without.length - SHOWN_WITHOUT_REASON;
  if (more > 0) lines.push(`  and ${more} more without a reason (filtered by name, or skipped in the source)`);
  return lines;
}

/** One line for the tests of a file that share a reason; a single one by its name. */
function byFileAndReason(skipped) {
  const groups = new Map();
  for (const test of skipped) {
    const key = JSON.stringify([test.file, test.reason]);
    groups.set(key, [...(groups.get(key) ?? []), test]);
  }
  return [...groups.values()].map((tests) => {
    const [{ file, name, reason }] = tests;
    return tests.length === 1 ? `  ${file}: ${name}: ${reason}` : `  ${file}: ${tests.length} tests: ${reason}`;
  });
}

/** Short runs are read without it. */
const SLOW_FILE_SECONDS = 1;

function slowLines(slowest) {
  const slow = slowest.filter(({ seconds }) => seconds >= SLOW_FILE_SECONDS);
  if (slow.length === 0) return [];
  return ['Slowest files:', ...slow.map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}`)];
}

function byName(tests) {
  return tests.map(({ file, name }) => `  ${file}: ${name}`);
}

/** The files whose tests failed, where they are few enough to be tried again. */
export function filesToRepeat({ failed }) {
  const files = [...new Set(failed.map(({ file }) => file))];
  return files.length <= MOST_FLAKY ? files : [];
}

/** The results of a run in which some files were run once more: those files count as they ended the second time. */
export function withRepeatedFiles(first, second) {
  const isRepeated = ({ file }) => file in second.passedByFile;
  const failsStill = ({ file, name }) => second.failed.some((test) => test.file === file && test.name === name);
  const passedBefore = Object.keys(second.passedByFile).map((file) => first.passedByFile[file] ?? 0);
  return {
    ...first,
    passed: passedBefore.reduce((rest, count) => rest - count, first.passed) + second.passed,
    failed: [...first.failed.filter((test) => !isRepeated(test)), ...second.failed],
    skipped: [...first.skipped.filter((test) => !isRepeated(test)), ...second.skipped],
    flaky: [
      ...first.flaky,
      ...first.failed.filter((test) => isRepeated(test) && !failsStill(test)),
      ...second.flaky.filter(({ file, name }) => !first.flaky.some((test) => test.file === file && test.name === name)),
    ],
    errors: first.errors + second.errors,
  };
}

/** What a person reads at the end of a test run, and the exit code that follows from it. */
export function summarize(results, { vitestCode, isCi }) {
  if (results === undefined) {
    return {
      text: 'The test run ended before it could report.\n0 passed, 0 failed, 0 skipped\n',
      code: vitestCode || 1,
    };
  }
  const { files, passed, failed, skipped, flaky, slowest, errors } = results;
  const lines = ['', `Ran ${passed + failed.length} tests in ${files} files.`, ...slowLines(slowest)];
  if (errors > 0) lines.push(`${errors} errors happened outside of tests (shown above): the run counts as failed.`);
  if (failed.length > 0) lines.push('Failed:', ...byName(failed));
  if (skipped.length > 0) lines.push('Skipped:', ...skippedLines(skipped));
  else lines.push('Nothing was skipped.');
  if (flaky.length > 0) lines.push('Flaky (failed, then passed on another try):', ...byName(flaky));
  const missing = skipped.filter(({ reason }) => isMissingPeer(reason));
  let code = vitestCode || (failed.length > 0 ? 1 : 0);
  if (flaky.length > MOST_FLAKY) {
    lines.push(`More than ${MOST_FLAKY} tests needed another try: the run counts as failed.`);
    code ||= 1;
  }
  if (missing.length > 0) {
    lines.push(`${missing.length} skipped because a peer is missing: npm run peers brings them.`);
    if (isCi) {
      lines.push('With CI=true that is a failure.');
      code ||= 1;
    }
  }
  lines.push(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  return { text: `${lines.join('\n')}\n`, code };
}
