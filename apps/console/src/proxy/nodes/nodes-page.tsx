import type { NodeView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { Page, Trouble } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { ExitBar } from '../exit/exit-bar.js';
import { nodesInUse } from '../exit/exit-path.js';
import { ChooseGroup, useNode } from '../exit/use-node.js';
import { useOverview } from '../exit/use-overview.js';
import { t } from '../messages/index.js';
import { RunProgress } from '../tests/run-progress.js';
import { useDelayRun } from '../tests/use-delay-run.js';
import { ExportMenu } from '../transfer/export-menu.js';
import { ImportDialog } from '../transfer/import-dialog.js';
import { AddNode } from './add-node.js';
import { BulkBar } from './bulk/bulk-bar.js';
import type { NodeActions } from './node-cells.js';
import { NodeDialog } from './node-dialog.js';
import { NodeFilters } from './node-filters.js';
import { isNarrowed, NO_FILTER } from './node-filter.js';
import { NodeTable } from './node-table.js';
import { RebuildCountries } from './rebuild-countries.js';
import { NONE_SELECTED, selectedOf, toggle, toggleAll } from './selection.js';
import { TestAll } from './test-all.js';
import { useNodes, type NodeList } from './use-nodes.js';

type Opened = 'add' | 'import' | NodeView | null;

/** The list of nodes: which one is used, how fast each is, and what can be done with many of them. */
export function NodesPage({ query }: PageProps) {
  const [filter, setFilter] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened>(null);
  const list = useNodes(filter);
  const { data: overview, reload: reloadOverview } = useOverview();
  const { sort } = filter;
  const reload = (): void => {
    list.reload();
    reloadOverview();
  };
  return (
    <Page title={t('nav.nodes')} actions={<HeadActions onOpen={setOpened} reload={reload} />}>
      {overview && <ExitBar overview={overview} />}
      <TestAll onDone={reload} onProgress={list.refresh} />
      <NodeFilters filter={filter} onChange={setFilter} />
      <Trouble error={list.error} retry={reload} />
      <Nodes
        list={list}
        usersOf={(id) => (overview === undefined ? [] : (nodesInUse(overview).get(id) ?? []))}
        sort={sort}
        onSort={(next) => setFilter({ sort: next })}
        onOpen={setOpened}
        empty={isNarrowed(filter) ? t('nodes.noMatch') : t('nodes.empty')}
        reload={reload}
      />
      <OpenedDialog opened={opened} onClose={() => setOpened(null)} reload={reload} />
    </Page>
  );
}

interface HeadActionsProps {
  onOpen: (opened: Opened) => void;
  reload: () => void;
}

function HeadActions({ onOpen, reload }: HeadActionsProps) {
  return (
    <>
      <button type="button" onClick={() => onOpen('import')}>
        {t('transfer.import')}
      </button>
      <ExportMenu path="/proxies/export" formats={['json', 'links', 'text']} />
      <RebuildCountries onDone={reload} />
      <button type="button" class="primary" onClick={() => onOpen('add')}>
        {t('nodes.add')}
      </button>
    </>
  );
}

interface NodesProps {
  list: NodeList;
  usersOf: (id: number) => readonly string[];
  sort: string;
  onSort: (sort: string) => void;
  onOpen: (node: NodeView) => void;
  empty: string;
  reload: () => void;
}

function Nodes({ list, usersOf, sort, onSort, onOpen, empty, reload }: NodesProps) {
  const [selection, setSelection] = useState(NONE_SELECTED);
  const run = useDelayRun(reload);
  const { open, busy, use, choose, close } = useNode(reload);
  const order = list.ids ?? [];
  const names = new Map(list.rows?.flatMap(({ id, node }) => (node ? [[id, node.name] as const] : [])));
  const actions: NodeActions = {
    onOpen,
    onUse: (node) => void use(node),
    onTest: ({ id }) => void run.start([id]),
    onSelect: (id, isRange) => setSelection((before) => toggle(before, order, id, isRange)),
    isSelected: (id) => selection.ids.has(id),
    usersOf,
    reload,
  };
  return (
    <>
      <BulkBar
        total={order.length}
        selected={selectedOf(selection, order)}
        nameOf={(id) => names.get(id) ?? `n${id}`}
        onSelectAll={() => setSelection((before) => toggleAll(before, order))}
        onKeep={(ids) => setSelection({ ids: new Set(ids), anchor: null })}
        onTest={(ids) => void run.start(ids)}
        reload={reload}
      />
      <RunProgress run={run} />
      <NodeTable list={list} sort={sort} onSort={onSort} actions={actions} empty={empty} />
      {open && (
        <ChooseGroup choice={open} busy={busy} onChoose={(node, group) => void choose(node, group)} onClose={close} />
      )}
    </>
  );
}

interface OpenedDialogProps {
  opened: Opened;
  onClose: () => void;
  reload: () => void;
}

function OpenedDialog({ opened, onClose, reload }: OpenedDialogProps) {
  if (opened === null) return null;
  if (opened === 'add') return <AddNode onClose={onClose} onDone={reload} />;
  if (opened !== 'import') return <NodeDialog node={opened} onClose={onClose} onDone={reload} />;
  return (
    <ImportDialog
      title={t('transfer.importNodes')}
      path="/proxies/import"
      list="nodes"
      onClose={onClose}
      onDone={reload}
    />
  );
}
