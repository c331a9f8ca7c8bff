import { AppError } from '@gatehouse/platform';
import type { KernelService } from '../kernel-process/kernel.service.js';
import { rawOf, toKernelRule, type StoredDefinition } from './rule-definition.js';

type Kernel = Pick<KernelService, 'refusedRules'>;

/** Why the running kernel does not take a valid rule, by the position in the list. */
export async function untakenRules(kernel: Kernel, rules: readonly StoredDefinition[]): Promise<Map<number, string>> {
  const asked = rules.map((rule) => ({ ...toKernelRule(rule), id: null, source: 'manual' as const }));
  const refused = await kernel.refusedRules(asked);
  return new Map(
    refused.flatMap(({ index, reason }) => {
      const rule = rules[index];
      return rule ? [[index, `${rawOf(rule)} is not taken by the running kernel, ${reason}`] as const] : [];
    }),
  );
}

/** @throws AppError UNPROCESSABLE naming the rule and the kernel that does not take it. */
export async function requireTaken(kernel: Kernel, rule: StoredDefinition, field: string): Promise<void> {
  const message = (await untakenRules(kernel, [rule])).get(0);
  if (message === undefined) return;
  throw new AppError('UNPROCESSABLE', `${field}: ${message}`, { details: [{ field, message }] });
}
