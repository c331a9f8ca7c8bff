/** One invalid, missing or unknown variable. */
export interface SettingProblem {
  /** Name of the environment variable. */
  readonly variable: string;
  /** The problem; never the value of a secret. */
  readonly problem: string;
  /** What would be valid. */
  readonly expected: string;
}

/** Raised at startup with every invalid, missing and unknown variable at once. */
export class SettingsError extends Error {
  readonly problems: readonly SettingProblem[];

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

function describeProblem({ variable, problem, expected }: SettingProblem): string {
  return `${variable}: ${problem}; expected ${expected}`;
}
