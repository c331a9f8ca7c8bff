import type { ProfileNote, ProfileReport as Report, ProfileSectionReport } from '@gatehouse/contracts';
import { Table, type Column } from '../../shared/components/table.js';
import { t } from '../messages/index.js';

const SECTIONS: readonly Column<ProfileSectionReport>[] = [
  { head: t('profiles.section'), cell: ({ section }) => t(`profiles.sections.${section}`), grow: true },
  { head: t('profiles.outcomes.carried'), cell: ({ carried }) => carried.toLocaleString(), right: true },
  { head: t('profiles.outcomes.replaced'), cell: ({ replaced }) => replaced.toLocaleString(), right: true },
  { head: t('profiles.outcomes.left_out'), cell: ({ left_out: leftOut }) => leftOut.toLocaleString(), right: true },
];

const NOTES: readonly Column<ProfileNote>[] = [
  { head: t('profiles.section'), cell: ({ section }) => t(`profiles.sections.${section}`) },
  { head: t('profiles.outcome'), cell: ({ outcome }) => t(`profiles.outcomes.${outcome}`) },
  { head: t('profiles.count'), cell: ({ count }) => count.toLocaleString(), right: true },
  {
    head: t('words.reason'),
    cell: ({ message, examples }) => (
      <>
        {message} <span class="muted">{examples.join(' · ')}</span>
      </>
    ),
    grow: true,
  },
];

/** What is carried of a profile, what stands for other things, and what is left out and why. */
export function ProfileReport({ report }: { report: Report }) {
  return (
    <>
      <Table
        caption={t('profiles.sectionsTitle')}
        columns={SECTIONS}
        rows={report.sections}
        rowKey={({ section }) => section}
        empty={t('profiles.nodesOnly')}
      />
      {report.notes.length > 0 && (
        <Table
          caption={t('profiles.notesTitle')}
          columns={NOTES}
          rows={report.notes}
          rowKey={({ section, outcome, reason }) => `${section} ${outcome} ${reason}`}
          empty=""
        />
      )}
    </>
  );
}
