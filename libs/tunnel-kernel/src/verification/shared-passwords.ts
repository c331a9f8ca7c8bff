import type { VisitorPolicyConfig } from '../config.js';
import type { PasswordChecks } from './password-checks.js';
import type { Tries } from './try-limit.js';

export type PasswordVerdict = { policy: VisitorPolicyConfig } | 'wrong' | { limited: number };

/** Policies of type `password`: one password for everybody. */
export class SharedPasswords {
  private readonly checks: PasswordChecks;
  private readonly tries: Tries;

  constructor(checks: PasswordChecks, tries: Tries) {
    this.checks = checks;
    this.tries = tries;
  }

  /** The first policy that the password fits. @throws TunnelError `overloaded` */
  async check(policies: readonly VisitorPolicyConfig[], password: string, address: string): Promise<PasswordVerdict> {
    let verdict: PasswordVerdict = 'wrong';
    for (const policy of policies) {
      if (policy.type !== 'password') continue;
      if (!(await this.tries.take(policy.id, address))) {
        verdict = { limited: await this.tries.retryAfter(policy.id, address) };
        continue;
      }
      if (!(await this.checks.check(policy.password ?? '', password, { policy, address }))) continue;
      await this.tries.giveBack(policy.id, address);
      return { policy };
    }
    return verdict;
  }
}
