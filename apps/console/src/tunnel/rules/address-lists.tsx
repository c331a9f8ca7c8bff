import type { AddressListView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { bold } from '../../shared/components/rich-text.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';
import { EditAddressList, NewAddressList } from './edit-address-list.js';

type Action = 'refresh' | 'edit' | 'remove';
export type OpenedList = { action: 'new' } | { action: 'edit' | 'remove'; list: AddressListView };

interface AddressListsProps {
  opened: OpenedList | null;
  setOpened: (opened: OpenedList | null) => void;
}

/** Lists of addresses that rules can name, for administrators. */
export function AddressLists({ opened, setOpened }: AddressListsProps) {
  const lists = useCursorList<AddressListView>(
    '/address-lists',
    {},
    { sort: 'name', everyMs: 10_000, areas: ['address-lists', 'rules'] },
  );
  const refresh = useRefresh(lists.reload);
  const onClose = (): void => setOpened(null);
  const onAction = (action: Action, list: AddressListView): void => {
    if (action === 'refresh') void refresh(list);
    else setOpened({ action, list });
  };
  return (
    <>
      <Trouble error={lists.error} retry={lists.reload} />
      <Table
        caption={t('lists.lists')}
        columns={columnsFor(onAction)}
        rows={lists.rows}
        rowKey={({ id }) => id}
        sort={lists.sort}
        onSort={lists.setSort}
        empty={<Empty>{NOTHING}</Empty>}
      />
      <CursorPager label={t('lists.lists')} order="any" note="" {...lists.pager} />
      {opened?.action === 'new' && <NewAddressList onClose={onClose} onDone={lists.reload} />}
      {opened?.action === 'edit' && <EditAddressList list={opened.list} onClose={onClose} onDone={lists.reload} />}
      {opened?.action === 'remove' && <RemoveList list={opened.list} onClose={onClose} onDone={lists.reload} />}
    </>
  );
}

const NOTHING = <p>{rich('lists.empty', { b: bold })}</p>;

/** Fetches a list now, and says how it went. */
function useRefresh(reload: () => void): (list: AddressListView) => Promise<void> {
  const api = useApi();
  const notify = useNotify();
  const { run } = useAction();
  return async ({ id, name }) => {
    await run(async () => {
      const { last_error: problem, entries } = await api.post<AddressListView>(`/address-lists/${id}/refresh`);
      if (problem === null) notify(t('lists.refreshed', { name, count: entries }));
      else notify(problem, 'bad');
    });
    reload();
  };
}

function columnsFor(onAction: (action: Action, list: AddressListView) => void): Column<AddressListView>[] {
  return [
    {
      head: t('lists.list'),
      sort: 'name',
      grow: true,
      cell: ({ name, url }) => (
        <>
          <strong>{name}</strong>
          <span class="second mono">{url}</span>
        </>
      ),
    },
    { head: t('lists.entries'), right: true, cell: ({ entries }) => entries },
    { head: t('lists.rules'), right: true, cell: ({ rules }) => rules },
    { head: t('words.state'), cell: (list) => <ListState list={list} /> },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (list) => (
        <RowActions>
          <RowAction label={t('lists.refreshName', { name: list.name })} onClick={() => onAction('refresh', list)}>
            {t('lists.refresh')}
          </RowAction>
          <RowAction label={t('words.editName', { name: list.name })} onClick={() => onAction('edit', list)}>
            {t('common.edit')}
          </RowAction>
          <RowAction label={t('words.deleteName', { name: list.name })} danger onClick={() => onAction('remove', list)}>
            {t('common.deleteMore')}
          </RowAction>
        </RowActions>
      ),
    },
  ];
}

function ListState({ list }: { list: AddressListView }) {
  const { last_error: problem, refreshed_at: at, bad_line_count: bad, bad_lines: lines } = list;
  return (
    <>
      {problem !== null && <Badge tone="bad">{problem}</Badge>}
      {at === null ? (
        problem === null && <Badge tone="info">{t('lists.pending')}</Badge>
      ) : (
        <span class="second" title={formatTime(at)}>
          {t('lists.from', { time: formatRelative(at) })}
        </span>
      )}
      {bad > 0 && (
        <span class="second" title={lines.map(({ line, text }) => `${line}: ${text}`).join('\n')}>
          {t('lists.badLines', { count: bad })}
        </span>
      )}
    </>
  );
}

function RemoveList({ list, onClose, onDone }: { list: AddressListView; onClose: () => void; onDone: () => void }) {
  const { id, name } = list;
  return (
    <RemoveDialog
      title={t('lists.deleteTitle')}
      path={`/address-lists/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('lists.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
