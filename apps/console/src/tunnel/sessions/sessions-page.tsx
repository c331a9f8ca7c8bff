import type { EndedSessionsView, TunnelSessionView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { describeBrowser } from './describe-browser.js';

/** Logins that have not ended: one's own; administrators see all. */
export function SessionsPage() {
  const list = useCursorList<TunnelSessionView>('/sessions', {}, { everyMs: 10_000 });
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Page
      title="Sessions"
      actions={
        <button type="button" onClick={() => setIsAsking(true)}>
          End my others …
        </button>
      }
    >
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="Sessions"
        columns={columnsFor(list.reload)}
        rows={list.rows}
        rowKey={({ id }) => id}
        empty="No session."
      />
      <CursorPager label="sessions" order="any" note="" {...list.pager} />
      {isAsking && <EndOthers onClose={() => setIsAsking(false)} onDone={list.reload} />}
    </Page>
  );
}

function columnsFor(reload: () => void): Column<TunnelSessionView>[] {
  return [
    {
      head: 'Who',
      cell: ({ username, current }) => (
        <>
          <strong>{username}</strong> {current && <Badge tone="info">this one</Badge>}
        </>
      ),
    },
    { head: 'From', cell: (session) => <code>{session.last_used_ip ?? session.address ?? '–'}</code> },
    {
      head: 'With',
      grow: true,
      cell: ({ software }) => <span title={software ?? ''}>{describeBrowser(software)}</span>,
    },
    { head: 'Since', cell: ({ created_at: at }) => formatTime(at) },
    { head: 'Last used', cell: (session) => formatRelative(session.last_used_at ?? session.created_at) },
    { head: 'Ends', cell: ({ expires_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span> },
    {
      head: 'End',
      quietHead: true,
      right: true,
      cell: (session) => !session.current && <EndSession session={session} reload={reload} />,
    },
  ];
}

function EndSession({ session, reload }: { session: TunnelSessionView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const end = async (): Promise<void> => {
    await run(() => api.delete(`/sessions/${session.id}`), `A session of ${session.username} was ended.`);
    reload();
  };
  return (
    <RowAction
      label={`End the session of ${session.username} from ${session.address ?? 'unknown'}`}
      danger
      disabled={busy}
      onClick={() => void end()}
    >
      End
    </RowAction>
  );
}

function EndOthers({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const end = (): Promise<boolean> =>
    run(async () => {
      const { ended } = await api.delete<EndedSessionsView>('/sessions');
      notify(ended === 1 ? 'One other session was ended.' : `${formatCount(ended)} other sessions were ended.`);
      onDone();
      onClose();
    });
  return (
    <Confirm
      title="End all your other sessions?"
      action="End them"
      busy={busy}
      onConfirm={() => void end()}
      onClose={onClose}
    >
      <p>Wherever else you are signed in, the password is asked for again. This session stays.</p>
    </Confirm>
  );
}
