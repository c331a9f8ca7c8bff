import type { ConnectionListResponse, ConnectionsClosedResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { ColumnChooser } from '../../shared/components/column-chooser.js';
import { useNotify } from '../../shared/components/notices.js';
import { Page, Tabs, Trouble } from '../../shared/components/page.js';
import { VirtualTable } from '../../shared/components/virtual-table.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAction } from '../../shared/state/use-action.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useColumns } from '../../shared/state/use-columns.js';
import { t } from '../messages/index.js';
import { NewRuleFrom } from '../rules/new-rule-from.js';
import { CloseMany } from './close-many.js';
import { CHOICES, COLUMN_IDS, columnsOf, ConnectionCard, DEFAULT_COLUMNS, ORDERS } from './connection-columns.js';
import { ConnectionDetail } from './connection-detail.js';
import { hostOf, isFiltered, matchingConnections, NO_FILTER } from './connection-filter.js';
import { ConnectionFilters } from './connection-filters.js';
import { closedAt, keyOf, MAX_CLOSED, type ConnectionHistory, type ListedConnection } from './connection-history.js';
import { DEFAULT_ORDER, sortConnections } from './connection-order.js';
import { NothingYet } from './nothing-yet.js';
import { useConnections } from './use-connections.js';

/** The open connections, and those that were seen to close. */
export function ConnectionsPage({ query }: PageProps) {
  const [paused, setPaused] = useState(false);
  const { list, history, error, reload, forgetClosed } = useConnections(paused);
  const [filter, setFilter] = useAddressFilter(query, NO_FILTER);
  const [chosen, choose] = useColumns('connections', COLUMN_IDS, DEFAULT_COLUMNS);
  const isClosedView = query['tab'] === 'closed';
  const all: readonly ListedConnection[] = isClosedView ? history.closed : (list?.connections ?? []);
  const found = matchingConnections(all, filter);
  return (
    <Page
      title={t('nav.connections')}
      actions={
        <>
          <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? t('connections.resume') : t('connections.pause')}
          </button>
          <ColumnChooser columns={CHOICES} chosen={chosen} defaults={DEFAULT_COLUMNS} onChange={choose} />
          {isClosedView ? (
            <button type="button" disabled={history.closed.length === 0} onClick={forgetClosed}>
              {t('connections.clearClosed')}
            </button>
          ) : (
            <CloseMany filter={filter} count={found.length} onDone={reload} />
          )}
        </>
      }
    >
      <Views query={query} open={list?.count ?? 0} closed={history.closed.length} isClosedView={isClosedView} />
      <Trouble error={error} retry={reload} />
      <ConnectionFilters rows={all} filter={filter} onChange={setFilter} />
      {list && <Sums list={list} shown={isFiltered(filter) ? { shown: found.length, total: all.length } : null} />}
      <ConnectionList
        query={query}
        rows={list === undefined && !isClosedView ? undefined : found}
        history={history}
        chosen={chosen}
        isClosedView={isClosedView}
        isFiltered={isFiltered(filter)}
        reload={reload}
      />
    </Page>
  );
}

interface ViewsProps {
  query: PageProps['query'];
  open: number;
  closed: number;
  isClosedView: boolean;
}

/** Both views keep the filter, but not the order: one has a column that the other has not. */
function Views({ query, open, closed, isClosedView }: ViewsProps) {
  const { sort: _order, tab: _tab, ...filter } = query;
  return (
    <Tabs
      label={t('connections.views')}
      tabs={[
        { id: 'active', label: t('connections.active', { count: open }) },
        { id: 'closed', label: t('connections.closedTab', { count: closed }) },
      ]}
      current={isClosedView ? 'closed' : 'active'}
      hrefOf={(tab) => hrefTo('connections', tab === 'closed' ? { ...filter, tab } : filter)}
    />
  );
}

interface ConnectionListProps {
  query: PageProps['query'];
  rows: readonly ListedConnection[] | undefined;
  history: ConnectionHistory;
  chosen: readonly string[];
  isClosedView: boolean;
  isFiltered: boolean;
  reload: () => void;
}

function ConnectionList({
  query,
  rows,
  history,
  chosen,
  isClosedView,
  isFiltered: hasFilter,
  reload,
}: ConnectionListProps) {
  const [{ sort }, setOrder] = useAddressFilter(query, { sort: isClosedView ? '-closed' : DEFAULT_ORDER });
  const [opened, setOpened] = useState<ListedConnection | null>(null);
  const [ruleOf, setRuleOf] = useState<ListedConnection | null>(null);
  const close = useClose(reload);
  const makeRule = (row: ListedConnection): void => {
    setOpened(null);
    setRuleOf(row);
  };
  const actions = { onOpen: setOpened, onMakeRule: makeRule, onClose: (row: ListedConnection) => void close(row) };
  const hasKernels = rows?.some(({ kernel }) => kernel !== null) ?? false;
  const nothing = isClosedView ? (
    t('connections.noneClosed', { max: MAX_CLOSED })
  ) : (
    <NothingYet>{t('words.nothingOpen')}</NothingYet>
  );
  return (
    <>
      <VirtualTable
        caption={t('nav.connections')}
        columns={columnsOf(chosen, { isClosedView, hasKernels }, actions)}
        rows={rows && sortConnections(rows, sort)}
        rowKey={keyOf}
        empty={hasFilter ? t('connections.noMatch') : nothing}
        card={(row) => <ConnectionCard row={row} actions={actions} />}
        cardHeight={96}
        sort={sort}
        orders={isClosedView ? [{ head: t('connections.ended'), sort: 'closed' }, ...ORDERS] : ORDERS}
        onSort={(order) => setOrder({ sort: order })}
      />
      {opened && (
        <ConnectionDetail connection={latest(opened, history)} actions={actions} onDone={() => setOpened(null)} />
      )}
      {ruleOf && (
        <NewRuleFrom
          connection={latest(ruleOf, history)}
          isOpen={closedAt(latest(ruleOf, history)) === null}
          onClose={() => setRuleOf(null)}
          onDone={reload}
        />
      )}
    </>
  );
}

/** A connection as it is now, or as it was when it closed. */
function latest(connection: ListedConnection, { open, closed }: ConnectionHistory): ListedConnection {
  const key = keyOf(connection);
  return open.get(key) ?? closed.find((row) => keyOf(row) === key) ?? connection;
}

function useClose(reload: () => void): (connection: ListedConnection) => Promise<void> {
  const api = useApi();
  const notify = useNotify();
  const { run } = useAction();
  return async (connection) => {
    await run(async () => {
      await api.delete<ConnectionsClosedResponse>(`/connections/${segment(connection.id)}`);
      notify(t('connections.closedOne', { host: hostOf(connection) }));
    });
    reload();
  };
}

interface SumsProps {
  list: ConnectionListResponse;
  /** Null: all are shown. */
  shown: { shown: number; total: number } | null;
}

function Sums({ list, shown }: SumsProps) {
  const { count, download_speed: down, upload_speed: up, memory_bytes: memory } = list;
  return (
    <p class="muted">
      {t('connections.sums', { count, down: formatRate(down), up: formatRate(up), memory: formatBytes(memory) })}
      {shown && ` · ${t('connections.shown', shown)}`}
    </p>
  );
}
