import type { CertificateView, HostView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAction } from '../../shared/state/use-action.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { bold, linkTo } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { HostCertificate } from '../hosts/host-certificate.js';
import { Empty } from '../parts/empty.js';
import { CertificateBadge } from './certificate-facts.js';
import { SOURCES } from './certificate-state.js';

const CHOICES = [
  { value: '', label: t('certificates.anySource') },
  ...Object.entries(SOURCES).map(([value, label]) => ({ value, label })),
];

/** Certificates of all hosts. */
export function CertificatesPage({ query }: PageProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const [{ source }, change] = useAddressFilter(query, { source: '' });
  const [host, setHost] = useState<HostView | null>(null);
  const list = useCursorList<CertificateView>(
    '/certificates',
    { source },
    { everyMs: 10_000, areas: ['certificates', 'hosts'] },
  );
  const open = (id: number): Promise<boolean> => run(async () => setHost(await api.get<HostView>(`/hosts/${id}`)));
  return (
    <Page title={t('nav.certificates')}>
      <div class="filters" role="search" aria-label={t('certificates.filter')}>
        <SelectField
          label={t('words.source')}
          hideLabel
          value={source}
          choices={CHOICES}
          onChange={(next) => change({ source: next })}
        />
      </div>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('nav.certificates')}
        columns={columnsFor(busy, (id) => void open(id))}
        rows={list.rows}
        rowKey={({ id }) => id}
        empty={source === '' ? <Empty>{NOTHING}</Empty> : t('words.noMatch')}
      />
      <CursorPager label={t('nav.certificates')} order="any" note="" {...list.pager} />
      {host && <HostCertificate host={host} onClose={() => setHost(null)} onDone={list.reload} />}
    </Page>
  );
}

const NOTHING = <p>{rich('certificates.empty', { b: bold, hosts: linkTo(hrefTo('hosts')) })}</p>;

function columnsFor(busy: boolean, onOpen: (hostId: number) => void): Column<CertificateView>[] {
  return [
    { head: t('words.state'), cell: (certificate) => <CertificateBadge certificate={certificate} /> },
    {
      head: t('kinds.host'),
      grow: true,
      cell: ({ host, last_error: error }) => (
        <>
          <strong>{host}</strong>
          {error !== null && <span class="second problem why">{error}</span>}
        </>
      ),
    },
    { head: t('words.source'), cell: ({ source }) => SOURCES[source] },
    { head: t('certificates.issuer'), cell: ({ issuer }) => <span class="clipped">{issuer ?? '–'}</span> },
    {
      head: t('certificates.validUntil'),
      cell: ({ not_after: at }) => <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: ({ id, host }) => (
        <RowAction label={t('certificates.openName', { name: host })} disabled={busy} onClick={() => onOpen(id)}>
          {t('words.open')}
        </RowAction>
      ),
    },
  ];
}
