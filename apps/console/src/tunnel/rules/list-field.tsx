import type { AddressListPage } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, type Choice } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';

interface ListFieldProps {
  /** The name of a list; empty: none. */
  value: string;
  problem: string | undefined;
  onChange: (name: string) => void;
}

/** More than a gateway has. */
const LIMIT = 100;

/** A list of addresses by its name, for administrators: others cannot look at lists. */
export function ListField({ value, problem, onChange }: ListFieldProps) {
  const api = useApi();
  const { data, error, reload } = useResource(
    (signal) => api.get<AddressListPage>('/address-lists', { limit: LIMIT, sort: 'name' }, signal),
    [],
    { areas: ['address-lists'] },
  );
  const names = data?.items.map(({ name }) => name);
  return (
    <>
      <Trouble error={error} retry={reload} />
      <SelectField
        label={t('rules.list')}
        hint={names?.length === 0 ? t('rules.noList') : undefined}
        value={value}
        choices={choicesOf(names ?? [], value)}
        problem={problem}
        onChange={onChange}
      />
    </>
  );
}

/** What is stored stays a choice, also before the lists are known. */
function choicesOf(names: readonly string[], value: string): Choice[] {
  const others = names.includes(value) ? [] : [{ value, label: value || t('choose.one') }];
  return [...others, ...names.map((name) => ({ value: name, label: name }))];
}
