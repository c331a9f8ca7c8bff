import type { CompileFilter } from '@gatehouse/subscription-formats';
import { compileFilter } from '../kernel-config/group-intake.js';

/** Filters of templates run as those of profiles do, with a budget. */
export const compileTemplateFilter: CompileFilter = (filter) => {
  const compiled = compileFilter(filter);
  if (compiled === null) return null;
  return ({ name, type }) => {
    const node = { originalName: name, type };
    return compiled.include.some((test) => test(node)) && !compiled.excludes(node);
  };
};
