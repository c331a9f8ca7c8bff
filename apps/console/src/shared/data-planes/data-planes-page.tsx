import { useState } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import { Page, Trouble } from '../components/page.js';
import { Table } from '../components/table.js';
import { useResource } from '../state/use-resource.js';
import { columnsOf } from './columns.js';
import type { DataPlane, DataPlaneKind, DataPlaneList } from './data-plane.js';
import { DrainDialog } from './drain-dialog.js';

/** The processes that carry traffic for this service: how each is, and whether it takes new connections. */
export function DataPlanesPage<P extends DataPlane, L extends DataPlaneList<P>>({
  kind,
}: {
  kind: DataPlaneKind<P, L>;
}) {
  const api = useApi();
  const [draining, setDraining] = useState<P | null>(null);
  const { path, title, everyMs } = kind;
  const { data, error, reload } = useResource((signal) => api.get<L>(path, {}, signal), [path], { everyMs });
  return (
    <Page title={title}>
      <Trouble error={error} retry={reload} />
      <Table
        caption={title}
        columns={columnsOf(kind, { reload, onDrain: setDraining })}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={kind.empty}
      />
      {/* Not before the list, which would push it down. */}
      {data && kind.below?.(data)}
      {draining && (
        <DrainDialog
          path={path}
          plane={draining}
          title={kind.drainTitle}
          onClose={() => setDraining(null)}
          onDone={reload}
        >
          {kind.drainText(draining.name)}
        </DrainDialog>
      )}
    </Page>
  );
}
