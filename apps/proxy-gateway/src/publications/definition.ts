import type { PublicationDefinition } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { NamePatternError } from '../kernel-config/name-pattern.js';
import { DEFAULT_UPDATE_SEC } from './publication-writer.js';
import { checkSteps } from './selection.js';

/** What a body says of the definition, as it is stored. @throws AppError INVALID_ARGUMENT for a pattern or a step. */
export function readDefinition(body: PublicationDefinition): PublicationDefinition {
  const { sources, steps, template, template_ids, userinfo, update_interval_sec } = body;
  for (const [index, step] of (steps ?? []).entries()) {
    if (step.do === 'rename' && step.pattern === undefined)
      throw invalid(`steps.${index}.pattern`, 'must be given for rename');
    if (step.do === 'limit' && step.count === undefined)
      throw invalid(`steps.${index}.count`, 'must be given for limit');
    checkPattern(index, () => checkSteps([step]));
  }
  // Classes of bodies have more than the fields that are stored.
  return JSON.parse(
    JSON.stringify({ sources, steps, template, template_ids, userinfo, update_interval_sec }),
  ) as PublicationDefinition;
}

/** Every field, with its default where it is not given. */
export function fullDefinition(definition: PublicationDefinition): Required<PublicationDefinition> {
  return {
    sources: definition.sources ?? {},
    steps: definition.steps ?? [],
    template: definition.template ?? 'countries',
    template_ids: definition.template_ids ?? [],
    userinfo: definition.userinfo ?? 'sum',
    update_interval_sec: definition.update_interval_sec ?? DEFAULT_UPDATE_SEC,
  };
}

function checkPattern(index: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof NamePatternError)) throw error;
    throw invalid(`steps.${index}`, `the regular expression ${error.message}`);
  }
}

function invalid(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
