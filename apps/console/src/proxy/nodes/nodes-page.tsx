import type { NodePage, NodeView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { PAGE_SIZES, Pager } from '../../shared/components/pager.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { t } from '../messages/index.js';
import { ExportMenu } from '../transfer/export-menu.js';
import { ImportDialog } from '../transfer/import-dialog.js';
import { AddNode } from './add-node.js';
import { NodeDialog } from './node-dialog.js';
import { NodeFilters } from './node-filters.js';
import { filterFrom, type NodeFilter } from './node-filter.js';
import { NodeTable } from './node-table.js';
import { RebuildCountries } from './rebuild-countries.js';
import { TestAll } from './test-all.js';

type Opened = 'add' | 'import' | NodeView | null;

/** The list of nodes: the service filters, sorts and pages, so that ten thousand are as quick as ten. */
export function NodesPage({ query }: PageProps) {
  const api = useApi();
  const [filter, setFilter] = useState<NodeFilter>(() => filterFrom(query));
  const [sort, setSort] = useState('id');
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const [opened, setOpened] = useState<Opened>(null);
  const settled = useDebounced(filter);
  const { data, error, reload } = useResource(
    (signal) => api.get<NodePage>('/proxies', { ...settled, sort, ...page }, signal),
    [settled, sort, page],
    { everyMs: 15_000 },
  );
  const narrow = (changes: Partial<NodeFilter>): void => {
    setFilter({ ...filter, ...changes });
    setPage({ ...page, offset: 0 });
  };
  const close = (): void => setOpened(null);
  return (
    <Page
      title={t('nav.nodes')}
      actions={
        <>
          <button type="button" onClick={() => setOpened('import')}>
            {t('transfer.import')}
          </button>
          <ExportMenu path="/proxies/export" formats={['json', 'links', 'text']} />
          <RebuildCountries onDone={reload} />
          <button type="button" class="primary" onClick={() => setOpened('add')}>
            {t('nodes.add')}
          </button>
        </>
      }
    >
      <TestAll onDone={reload} />
      <NodeFilters filter={filter} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      <NodeTable rows={data?.items} sort={sort} onSort={setSort} onOpen={setOpened} reload={reload} />
      {data && <Pager label={t('nav.nodes')} sizes={PAGE_SIZES} {...data} onChange={setPage} />}
      {opened === 'add' && <AddNode onClose={close} onDone={reload} />}
      {opened === 'import' && (
        <ImportDialog
          title={t('transfer.importNodes')}
          path="/proxies/import"
          list="nodes"
          onClose={close}
          onDone={reload}
        />
      )}
      {typeof opened === 'object' && opened !== null && <NodeDialog node={opened} onClose={close} onDone={reload} />}
    </Page>
  );
}
