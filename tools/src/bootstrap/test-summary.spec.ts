import { describe, expect, it } from 'vitest';
import { filesToRepeat, summarize, withRepeatedFiles, type TestResults } from '../../bootstrap/test-summary.mjs';

const CLEAN: TestResults = {
  files: 2,
  passed: 5,
  passedByFile: { 'a.spec.ts': 2, 'b.spec.ts': 3 },
  failed: [],
  skipped: [],
  flaky: [],
  slowest: [],
  errors: 0,
};
const SKIPPED = { file: 'a.spec.ts', name: 'carries', reason: 'v2ray is not installed: npm run peers' };

function lastLine(text: string): string | undefined {
  return text.trimEnd().split('\n').at(-1);
}

describe('summarize', () => {
  it('ends with the plain line', () => {
    const { text, code } = summarize(CLEAN, { vitestCode: 0, isCi: true });
    expect(lastLine(text)).toBe('5 passed, 0 failed, 0 skipped');
    expect(code).toBe(0);
  });

  it('lists the slowest files, and none that took less than a second', () => {
    const slowest = [
      { file: 'a.spec.ts', seconds: 12.34 },
      { file: 'b.spec.ts', seconds: 0.9 },
    ];
    const { text } = summarize({ ...CLEAN, slowest }, { vitestCode: 0, isCi: false });
    expect(text).toContain('Slowest files:\n    12.3 s  a.spec.ts\n');
    expect(text).not.toContain('b.spec.ts');
  });

  it('names what failed, and fails even when the runner did not', () => {
    const results = { ...CLEAN, failed: [{ file: 'a.spec.ts', name: 'breaks' }] };
    const { text, code } = summarize(results, { vitestCode: 0, isCi: false });
    expect(text).toContain('a.spec.ts: breaks');
    expect(lastLine(text)).toBe('5 passed, 1 failed, 0 skipped');
    expect(code).toBe(1);
  });

  it('prints why something was skipped; a missing peer fails only the build machine', () => {
    const results = { ...CLEAN, skipped: [SKIPPED] };
    const here = summarize(results, { vitestCode: 0, isCi: false });
    expect(here.text).toContain('a.spec.ts: carries: v2ray is not installed');
    expect(here.code).toBe(0);
    expect(summarize(results, { vitestCode: 0, isCi: true }).code).toBe(1);
    const other = { ...CLEAN, skipped: [{ ...SKIPPED, reason: 'Linux only' }] };
    expect(summarize(other, { vitestCode: 0, isCi: true }).code).toBe(0);
  });

  it('does not fail for programs that are brought on request only, and says once for a file why many were left out', () => {
    const reason = 'xray is not installed: npm run peers -- --go';
    const skipped = ['one', 'two'].map((name) => ({ file: 'a.spec.ts', name, reason }));
    const { text, code } = summarize({ ...CLEAN, skipped }, { vitestCode: 0, isCi: true });
    expect(code).toBe(0);
    expect(text).toContain('a.spec.ts: 2 tests: xray is not installed: npm run peers -- --go');
    expect(lastLine(text)).toBe('5 passed, 0 failed, 2 skipped');
    const python = [{ ...SKIPPED, reason: 'python3-with-x is not installed: npm run peers -- --python' }];
    expect(summarize({ ...CLEAN, skipped: python }, { vitestCode: 0, isCi: true }).code).toBe(0);
  });

  it('names what passed on another try only, and fails when that happens often', () => {
    const flaky = Array.from({ length: 5 }, (_, i) => ({ file: 'a.spec.ts', name: `t${i}` }));
    const few = summarize({ ...CLEAN, flaky }, { vitestCode: 0, isCi: true });
    expect(few.text).toContain('a.spec.ts: t4');
    expect(few.code).toBe(0);
    const many = summarize({ ...CLEAN, flaky: [...flaky, ...flaky] }, { vitestCode: 0, isCi: true });
    expect(many.text).toContain('needed another try');
    expect(many.code).toBe(1);
  });

  it('shortens a long list of skips without a reason', () => {
    const skipped = Array.from({ length: 25 }, (_, i) => ({ file: 'a.spec.ts', name: `t${i}` }));
    const { text } = summarize({ ...CLEAN, skipped }, { vitestCode: 0, isCi: false });
    expect(text).toContain('and 15 more');
    expect(lastLine(text)).toBe('5 passed, 0 failed, 25 skipped');
  });

  it('keeps the failure of a run that never reported or had errors outside of tests', () => {
    expect(summarize(undefined, { vitestCode: 0, isCi: false }).code).toBe(1);
    expect(summarize(undefined, { vitestCode: 130, isCi: false }).code).toBe(130);
    expect(summarize({ ...CLEAN, errors: 1 }, { vitestCode: 1, isCi: false }).code).toBe(1);
  });
});

describe('files that run once more', () => {
  const carries = { file: 'a.spec.ts', name: 'carries' };
  const breaks = { file: 'a.spec.ts', name: 'breaks' };
  const first: TestResults = { ...CLEAN, failed: [carries, breaks], skipped: [SKIPPED] };

  it('are those with a failure, if they are few', () => {
    expect(filesToRepeat(first)).toEqual(['a.spec.ts']);
    const failed = Array.from({ length: 6 }, (_, i) => ({ file: `${i}.spec.ts`, name: 'fails' }));
    expect(filesToRepeat({ ...CLEAN, failed })).toEqual([]);
  });

  it('count as they ended the second time, and what passed only then is named', () => {
    const second: TestResults = { ...CLEAN, passed: 3, passedByFile: { 'a.spec.ts': 3 }, failed: [breaks] };
    const { passed, failed, skipped, flaky } = withRepeatedFiles(first, second);
    expect({ passed, failed, skipped, flaky }).toEqual({ passed: 6, failed: [breaks], skipped: [], flaky: [carries] });
  });

  it('do not hide what failed outside of tests', () => {
    const second: TestResults = { ...CLEAN, passed: 4, passedByFile: { 'a.spec.ts': 4 } };
    const results = withRepeatedFiles({ ...first, errors: 1 }, second);
    expect(results.failed).toEqual([]);
    expect(summarize(results, { vitestCode: 1, isCi: true }).code).toBe(1);
  });
});
