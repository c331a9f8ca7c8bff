export interface TestResults {
  files: number;
  passed: number;
  /** Also of files in which none passed. */
  passedByFile: Record<string, number>;
  failed: { file: string; name: string }[];
  skipped: { file: string; name: string; reason?: string }[];
  /** Passed on another try. */
  flaky: { file: string; name: string }[];
  /** The ten slowest files, the slowest first, imports included. */
  slowest: { file: string; seconds: number }[];
  errors: number;
}
export function isMissingPeer(reason: string | undefined): boolean;
export function filesToRepeat(results: TestResults): string[];
export function withRepeatedFiles(first: TestResults, second: TestResults): TestResults;
export function summarize(
  results: TestResults | undefined,
  options: { vitestCode: number; isCi: boolean },
): { text: string; code: number };
