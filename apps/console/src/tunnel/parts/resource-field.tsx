import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, TextField } from '../../shared/components/fields.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { findResources, type ResourceKind } from './resources.js';

interface ResourceFieldProps {
  kind: ResourceKind;
  label: string;
  /** The id; empty: none. */
  value: string;
  /** What stands for none, where none may be chosen. */
  none?: string;
  hideLabel?: boolean;
  problem?: string | undefined;
  onChange: (id: string) => void;
}

/** One client, tunnel or host by its name; where there are many, a part of the name narrows the list. */
export function ResourceField({ kind, label, value, none, hideLabel = false, problem, onChange }: ResourceFieldProps) {
  const api = useApi();
  const [q, setQ] = useState('');
  const settled = useDebounced(q);
  const { data } = useResource((signal) => findResources(api, kind, settled, signal), [kind, settled]);
  const items = data?.items ?? [];
  const isKnown = items.some(({ id }) => String(id) === value);
  const choices = [
    ...(none === undefined && value !== '' ? [] : [{ value: '', label: none ?? t('choose.one') }]),
    ...(value === '' || isKnown ? [] : [{ value, label: t('choose.named', { kind: t(`kinds.${kind}`), id: value }) }]),
    ...items.map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  return (
    <>
      {(q !== '' || data?.isCut) && (
        <TextField
          label={t('choose.narrow', { kind: t(`kinds.${kind}`) })}
          hideLabel={hideLabel}
          type="search"
          placeholder={t('choose.narrowHint')}
          value={q}
          onInput={setQ}
        />
      )}
      <SelectField
        label={label}
        hideLabel={hideLabel}
        value={value}
        choices={choices}
        problem={problem}
        onChange={onChange}
      />
    </>
  );
}
