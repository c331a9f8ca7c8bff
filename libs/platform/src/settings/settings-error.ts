import { bilingual, BilingualError, type Bilingual } from '@gatehouse/i18n';

/** One invalid, missing or unknown variable. */
export interface SettingProblem {
  /** Name of the environment variable. */
  readonly variable: string;
  /** The problem; never the value of a secret. */
  readonly problem: Bilingual;
  /** What would be valid. */
  readonly expected: Bilingual;
}

/** Thrown at startup with every invalid, missing and unknown variable at once. */
export class SettingsError extends BilingualError {
  readonly problems: readonly SettingProblem[];

  constructor(problems: readonly SettingProblem[]) {
    super(
      bilingual(
        problems
          .map(({ variable, problem, expected }) => `${variable}: ${problem.en}; expected ${expected.en}`)
          .join('\n'),
        problems
          .map(({ variable, problem, expected }) => `${variable}: ${problem['zh-CN']}；要求：${expected['zh-CN']}`)
          .join('\n'),
      ),
    );
    this.name = 'SettingsError';
    this.problems = problems;
  }
}
