import type { TunnelClientPage, TunnelClientView } from '@gatehouse/contracts';
import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField, TextField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { stateOf } from '../clients/client-state.js';
import { ClientState } from '../clients/client-table.js';
import { t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';

interface ClientPickerProps {
  /** The id; empty: none. */
  value: string;
  problem: string | undefined;
  onChange: (id: string) => void;
  /** To create another one. */
  onInstall: () => void;
}

const SHOWN = 100;

/** The client whose machine has the service, with its state; or a new one. */
export function ClientPicker({ value, problem, onChange, onInstall }: ClientPickerProps) {
  const api = useApi();
  const [q, setQ] = useState('');
  const settled = useDebounced(q);
  const { data, error } = useResource(
    (signal) => api.get<TunnelClientPage>('/clients', { limit: SHOWN, q: settled, sort: 'name' }, signal),
    [settled],
    { everyMs: 3_000, areas: ['clients'] },
  );
  const chosen = useChosen(value, data?.items);
  // With one client there is nothing to choose.
  const only = data?.items.length === 1 && settled === '' ? String(data.items[0]!.id) : '';
  useEffect(() => {
    if (value === '' && only !== '') onChange(only);
  }, [only]);
  if (data?.items.length === 0 && settled === '') return <NoClient problem={problem} onInstall={onInstall} />;
  return (
    <>
      <Trouble error={error} />
      {(q !== '' || data?.next_cursor != null) && (
        <TextField
          label={t('choose.narrow', { kind: t('kinds.client') })}
          type="search"
          placeholder={t('choose.narrowHint')}
          value={q}
          onInput={setQ}
        />
      )}
      <SelectField
        label={t('kinds.client')}
        value={value}
        choices={choicesOf(data?.items ?? [], value, chosen)}
        problem={problem}
        onChange={onChange}
      />
      <ClientNote client={chosen} onInstall={onInstall} />
    </>
  );
}

/** The chosen one, which the list may not have. */
function useChosen(id: string, items: readonly TunnelClientView[] | undefined): TunnelClientView | undefined {
  const api = useApi();
  const listed = items?.find((client) => String(client.id) === id);
  const isWanted = id !== '' && items !== undefined && listed === undefined;
  const { data } = useResource(
    async (signal) => (isWanted ? api.get<TunnelClientView>(`/clients/${id}`, {}, signal) : undefined),
    [id, isWanted],
  );
  return listed ?? (data && String(data.id) === id ? data : undefined);
}

function choicesOf(items: readonly TunnelClientView[], value: string, chosen: TunnelClientView | undefined) {
  const isListed = items.some(({ id }) => String(id) === value);
  const others = value === '' || isListed ? [] : [{ value, label: chosen?.name ?? value }];
  const labelled = items.map((client) => ({
    value: String(client.id),
    label: t('publishing.clientWithState', { name: client.name, state: stateOf(client).text }),
  }));
  return [...(value === '' ? [{ value: '', label: t('choose.one') }] : []), ...others, ...labelled];
}

function ClientNote({ client, onInstall }: { client: TunnelClientView | undefined; onInstall: () => void }) {
  return (
    <p class="actions spaced">
      {client && <ClientState client={client} />}
      {client?.online === false && <span class="muted">{t('publishing.clientOffline')}</span>}
      <button type="button" class="small" onClick={onInstall}>
        {t('publishing.installAgent')}
      </button>
    </p>
  );
}

function NoClient({ problem, onInstall }: Pick<ClientPickerProps, 'problem' | 'onInstall'>) {
  return (
    <Empty
      action={
        <button type="button" class="primary" onClick={onInstall}>
          {t('publishing.installAgent')}
        </button>
      }
    >
      <p>{t('publishing.noClient')}</p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {t('publishing.needsClient')}
        </p>
      )}
    </Empty>
  );
}
