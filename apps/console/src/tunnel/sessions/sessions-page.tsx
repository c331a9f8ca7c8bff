import type { EndedSessionsView, TunnelSessionView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { describeBrowser } from './describe-browser.js';

/** Logins that have not ended: one's own; administrators see all. */
export function SessionsPage() {
  const list = useCursorList<TunnelSessionView>('/sessions', {}, { everyMs: 10_000, areas: ['sessions'] });
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Page
      title={t('nav.sessions')}
      actions={
        <button type="button" onClick={() => setIsAsking(true)}>
          {t('sessions.endOthersMore')}
        </button>
      }
    >
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('nav.sessions')}
        columns={columnsFor(list.reload)}
        rows={list.rows}
        rowKey={({ id }) => id}
        empty={t('sessions.none')}
      />
      <CursorPager label={t('nav.sessions')} order="any" note="" {...list.pager} />
      {isAsking && <EndOthers onClose={() => setIsAsking(false)} onDone={list.reload} />}
    </Page>
  );
}

function columnsFor(reload: () => void): Column<TunnelSessionView>[] {
  return [
    {
      head: t('sessions.user'),
      cell: ({ username, current }) => (
        <>
          <strong>{username}</strong> {current && <Badge tone="info">{t('sessions.current')}</Badge>}
        </>
      ),
    },
    { head: t('words.ipAddress'), cell: (session) => <code>{session.last_used_ip ?? session.address ?? '–'}</code> },
    {
      head: t('sessions.browser'),
      grow: true,
      cell: ({ software }) => <span title={software ?? ''}>{describeBrowser(software)}</span>,
    },
    { head: t('sessions.signedIn'), cell: ({ created_at: at }) => formatTime(at) },
    { head: t('common.lastUsed'), cell: (session) => formatRelative(session.last_used_at ?? session.created_at) },
    {
      head: t('common.expires'),
      cell: ({ expires_at: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
    {
      head: t('sessions.end'),
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
    await run(() => api.delete(`/sessions/${session.id}`), t('sessions.ended', { user: session.username }));
    reload();
  };
  return (
    <RowAction
      label={t('sessions.endOne', { user: session.username, address: session.address ?? t('words.unknown') })}
      danger
      disabled={busy}
      onClick={() => void end()}
    >
      {t('sessions.end')}
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
      notify(t('sessions.othersEnded', { count: ended }));
      onDone();
      onClose();
    });
  return (
    <Confirm
      title={t('sessions.endOthersTitle')}
      action={t('sessions.endOthers')}
      busy={busy}
      onConfirm={() => void end()}
      onClose={onClose}
    >
      <p>{t('sessions.endOthersText')}</p>
    </Confirm>
  );
}
