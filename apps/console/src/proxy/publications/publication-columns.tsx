import type { PublicationSources, PublicationView } from '@gatehouse/contracts';
import { Badge } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import type { Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { stateOf } from './publication-state.js';

/** What the buttons of a row open. */
export type PublicationAction = 'edit' | 'replace' | 'off' | 'remove';

const TONES = { on: 'good', off: 'none', expired: 'bad' } as const;

interface ColumnsProps {
  /** Of subscriptions, by id. */
  names: ReadonlyMap<number, string>;
  onOpen: (action: PublicationAction, publication: PublicationView) => void;
  onSwitchOn: (publication: PublicationView) => void;
}

export function publicationColumns({ names, onOpen, onSwitchOn }: ColumnsProps): Column<PublicationView>[] {
  return [
    { head: t('common.name'), grow: true, cell: ({ name }) => <strong>{name}</strong> },
    {
      head: t('publications.sources'),
      cell: ({ sources, template }) => (
        <span class="noted">
          <span class="second">{describeSources(sources, names)}</span>
          <span class="second">{t(`publications.templates.${template}`)}</span>
        </span>
      ),
    },
    {
      head: t('common.lastUsed'),
      cell: ({ last_used_at: at, last_used_ip: ip }) => <span title={ip ?? ''}>{formatRelative(at)}</span>,
    },
    { head: t('publications.fetches'), right: true, cell: ({ fetch_count: count }) => count.toLocaleString() },
    {
      head: t('common.expires'),
      cell: ({ expires_at: at }) =>
        at === null ? t('common.never') : <span title={formatTime(at)}>{formatRelative(at)}</span>,
    },
    {
      head: t('words.state'),
      cell: (publication) => {
        const state = stateOf(publication, Date.now());
        return (
          <>
            <Badge tone={TONES[state]}>{t(`publications.states.${state}`)}</Badge>{' '}
            <OnOff publication={publication} onOpen={onOpen} onSwitchOn={onSwitchOn} />
          </>
        );
      },
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (row) => <Actions publication={row} onOpen={onOpen} />,
    },
  ];
}

type RowProps = Omit<ColumnsProps, 'names'> & { publication: PublicationView };

function OnOff({ publication, onOpen, onSwitchOn }: RowProps) {
  const { name, enabled } = publication;
  return enabled ? (
    <RowAction label={t('publications.switchOffName', { name })} onClick={() => onOpen('off', publication)}>
      {t('publications.switchOffMore')}
    </RowAction>
  ) : (
    <RowAction label={t('publications.switchOnName', { name })} onClick={() => onSwitchOn(publication)}>
      {t('publications.switchOn')}
    </RowAction>
  );
}

function Actions({ publication, onOpen }: Omit<RowProps, 'onSwitchOn'>) {
  const { name } = publication;
  return (
    <RowActions>
      <RowAction label={t('publications.editTitle', { name })} onClick={() => onOpen('edit', publication)}>
        {t('common.edit')}
      </RowAction>
      <RowAction label={t('publications.replaceName', { name })} onClick={() => onOpen('replace', publication)}>
        {t('publications.replaceMore')}
      </RowAction>
      <RowAction label={t('publications.deleteName', { name })} danger onClick={() => onOpen('remove', publication)}>
        {t('common.deleteMore')}
      </RowAction>
    </RowActions>
  );
}

function describeSources(sources: PublicationSources, names: ReadonlyMap<number, string>): string {
  if (Object.keys(sources).length === 0) return t('publications.takes.all');
  const parts = [
    ...(sources.subscription_ids ?? []).map((id) => names.get(id) ?? `#${id}`),
    ...(sources.tags ?? []).map((tag) => t('publications.tag', { tag })),
    ...(sources.manual === true ? [t('publications.manual')] : []),
  ];
  return parts.length === 0 ? t('common.none') : parts.join(', ');
}
