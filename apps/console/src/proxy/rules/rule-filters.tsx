import { RULE_SOURCES, type RuleView } from '@gatehouse/contracts';
import { plainChoices, SelectField } from '../../shared/components/fields.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { t } from '../messages/index.js';
import { isFiltered, NO_RULE_FILTER, targetChoices, type RuleFilter } from './rule-filter.js';
import { RULE_TYPES } from './rule-form.js';
import { useTargets } from './use-targets.js';

interface RuleFiltersProps {
  rows: readonly RuleView[];
  filter: RuleFilter;
  onChange: (changes: Partial<RuleFilter>) => void;
  /** Whether the rules are of several sources. */
  withSource?: boolean;
}

export function RuleFilters({ rows, filter, onChange, withSource = false }: RuleFiltersProps) {
  const targets = useTargets();
  const types = [...new Set([...RULE_TYPES, ...(filter.type === '' ? [] : [filter.type])])];
  return (
    <SearchBar
      label={t('rules.filter')}
      placeholder={t('rules.search')}
      value={filter.search}
      onInput={(search) => onChange({ search })}
    >
      <SelectField
        label={t('rules.byType')}
        hideLabel
        value={filter.type}
        choices={[{ value: '', label: t('rules.anyType') }, ...plainChoices(types)]}
        onChange={(type) => onChange({ type })}
      />
      <SelectField
        label={t('rules.byTarget')}
        hideLabel
        value={filter.target}
        choices={[{ value: '', label: t('rules.anyTarget') }, ...targetChoices(targets, rows, filter.target)]}
        onChange={(target) => onChange({ target })}
      />
      {withSource && (
        <SelectField
          label={t('rules.bySource')}
          hideLabel
          value={filter.source}
          choices={[
            { value: '', label: t('rules.anySource') },
            ...RULE_SOURCES.map((value) => ({ value, label: t(`rules.sourceNames.${value}`) })),
          ]}
          onChange={(source) => onChange({ source })}
        />
      )}
      {isFiltered(filter) && (
        <button type="button" onClick={() => onChange(NO_RULE_FILTER)}>
          {t('connections.resetFilter')}
        </button>
      )}
    </SearchBar>
  );
}
