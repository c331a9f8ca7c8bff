import type {
  PublicationDefinition,
  PublicationHealth,
  PublicationIdentity,
  PublicationOrder,
  PublicationSources,
  PublicationStep,
  PublicationStepKind,
  PublicationTemplate,
  PublicationView,
} from '@gatehouse/contracts';
import { splitLines, splitWords } from '../../shared/format/links.js';
import { fromLocalField, toLocalField } from '../../shared/format/times.js';

/** One step as a form; fields of other kinds of steps stay, so that switching the kind back loses nothing. */
export interface StepForm {
  /** Of the row on the page. */
  key: number;
  do: PublicationStepKind;
  name: string;
  types: string;
  countries: string;
  tags: string;
  health: '' | PublicationHealth;
  pattern: string;
  replacement: string;
  by: PublicationOrder;
  descending: boolean;
  same: PublicationIdentity;
  count: string;
}

/** A publication as a form: lists are texts, numbers too. The names are those of the API, so that refusals find their fields. */
export interface PublicationForm {
  name: string;
  takes: 'all' | 'some';
  subscription_ids: readonly number[];
  tags: string;
  manual: boolean;
  steps: readonly StepForm[];
  template: PublicationTemplate;
  template_ids: readonly number[];
  expires_at: string;
  fetches_per_hour: string;
  allowed_addresses: string;
}

let lastKey = 0;

export function stepFormOf(step: PublicationStep): StepForm {
  return {
    key: ++lastKey,
    do: step.do,
    name: step.name ?? '',
    types: step.types?.join(', ') ?? '',
    countries: step.countries?.join(', ') ?? '',
    tags: step.tags?.join(', ') ?? '',
    health: step.health ?? '',
    pattern: step.pattern ?? '',
    replacement: step.replacement ?? '',
    by: step.by ?? 'name',
    descending: step.descending ?? false,
    same: step.same ?? 'server',
    count: step.count === undefined ? '' : String(step.count),
  };
}

export function formOf(publication: PublicationView | null): PublicationForm {
  const sources = publication?.sources ?? {};
  return {
    name: publication?.name ?? '',
    takes: Object.keys(sources).length === 0 ? 'all' : 'some',
    subscription_ids: sources.subscription_ids ?? [],
    tags: sources.tags?.join(', ') ?? '',
    manual: sources.manual ?? false,
    steps: publication?.steps.map(stepFormOf) ?? [],
    template: publication?.template ?? 'countries',
    template_ids: publication?.template_ids ?? [],
    expires_at: toLocalField(publication?.expires_at ?? null),
    fetches_per_hour: String(publication?.fetches_per_hour ?? ''),
    allowed_addresses: publication?.allowed_addresses.join('\n') ?? '',
  };
}

export function toDefinition(
  form: PublicationForm,
): Pick<PublicationDefinition, 'sources' | 'steps' | 'template' | 'template_ids'> {
  const { template, template_ids: ids } = form;
  return { sources: sourcesOf(form), steps: form.steps.map(toStep), template, template_ids: [...ids] };
}

/** A publication's body. What is no number goes as it is: the service says what is wrong with it. */
export function toBody(form: PublicationForm): Record<string, unknown> {
  return {
    name: form.name,
    ...toDefinition(form),
    expires_at: fromLocalField(form.expires_at),
    fetches_per_hour: form.fetches_per_hour.trim() === '' ? null : toNumber(form.fetches_per_hour),
    allowed_addresses: splitWords(form.allowed_addresses),
  };
}

/** What of a form differs from the publication: the field of the expiry has no seconds, and must not cut them off. */
export function publicationChanges(publication: PublicationView, form: PublicationForm): Record<string, unknown> {
  const before = toBody(formOf(publication));
  const entries = Object.entries(toBody(form));
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

function sourcesOf({ takes, subscription_ids: ids, tags, manual }: PublicationForm): PublicationSources {
  if (takes === 'all') return {};
  const labels = splitLines(tags);
  return {
    // Nothing chosen is no node, which the empty list says; no field at all would be every node.
    ...((ids.length > 0 || (labels.length === 0 && !manual)) && { subscription_ids: [...ids] }),
    ...(labels.length > 0 && { tags: labels }),
    ...(manual && { manual }),
  };
}

function toStep(form: StepForm): PublicationStep {
  switch (form.do) {
    case 'keep':
    case 'drop':
      return { do: form.do, ...conditionsOf(form) };
    case 'rename':
      return { do: 'rename', pattern: form.pattern, replacement: form.replacement };
    case 'sort':
      return { do: 'sort', by: form.by, ...(form.descending && { descending: true }) };
    case 'dedupe':
      return { do: 'dedupe', same: form.same };
    case 'limit':
      return { do: 'limit', count: toNumber(form.count) as number };
  }
}

function conditionsOf(form: StepForm): Omit<PublicationStep, 'do'> {
  const types = splitWords(form.types);
  const countries = splitWords(form.countries).map((code) => code.toUpperCase());
  const tags = splitLines(form.tags);
  return {
    ...(form.name !== '' && { name: form.name }),
    ...(types.length > 0 && { types }),
    ...(countries.length > 0 && { countries }),
    ...(tags.length > 0 && { tags }),
    ...(form.health !== '' && { health: form.health }),
  };
}

function toNumber(text: string): number | string {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}
