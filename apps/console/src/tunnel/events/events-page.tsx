import type { EventPage, EventView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { FIRST_CURSOR } from '../../shared/state/cursor.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import type { NameOf } from '../parts/resource-names.js';
import { EventSubject, useEventSubjects } from './event-subject.js';
import { EventBadge } from './event-badge.js';
import { EVENT_TYPES, eventName, mergeEvents } from './event-names.js';
import { useLiveEvents, type LiveEvents } from './use-live-events.js';

type Filter = { type: string; resource_type: string; resource_id: string };

const NO_FILTER: Filter = { type: '', resource_type: '', resource_id: '' };

const TYPES = [
  { value: '', label: t('events.allTypes') },
  ...EVENT_TYPES.map((value) => ({ value, label: eventName(value) })),
];
const RESOURCES = [
  { value: '', label: t('events.allResources') },
  ...(['client', 'tunnel', 'host', 'user', 'webhook'] as const).map((value) => ({ value, label: t(`kinds.${value}`) })),
];

const columnsFor = (aboutOf: NameOf): Column<EventView>[] => [
  {
    head: t('events.event'),
    cell: ({ type, created_at: at }) => (
      <>
        <EventBadge type={type} />
        <span class="second" title={formatRelative(at)}>
          {formatTime(at)}
        </span>
      </>
    ),
  },
  {
    head: t('words.message'),
    grow: true,
    cell: (event) => (
      <span class="wrapped">
        <EventSubject event={event} aboutOf={aboutOf} /> {event.message}
        {typeof event.data['count'] === 'number' && event.data['count'] > 1 && (
          <span class="muted"> {t('events.times', { count: event.data['count'] })}</span>
        )}
      </span>
    ),
  },
];

/** What happened, and what happens right now. */
export function EventsPage({ query }: PageProps) {
  const api = useApi();
  const [filter, change] = useAddressFilter<Filter>(query, NO_FILTER);
  const [page, setPage] = useState(FIRST_CURSOR);
  const { data, error, reload } = useResource(
    (signal) => api.get<EventPage>('/events', { ...filter, limit: page.limit, cursor: page.cursor }, signal),
    [filter.type, filter.resource_type, filter.resource_id, page],
  );
  const isFirst = page.cursor === null;
  const live = useLiveEvents({ ...filter }, isFirst && data ? (data.items[0]?.id ?? 0) : undefined);
  const rows = data && (isFirst ? mergeEvents(data.items, live.events) : data.items);
  const aboutOf = useEventSubjects(rows ?? []);
  const narrow = (changes: Partial<Filter>): void => {
    change(changes);
    setPage({ ...FIRST_CURSOR, limit: page.limit });
  };
  return (
    <Page title={t('nav.events')} actions={isFirst && <LiveBadge live={live} />}>
      <EventFilters filter={filter} aboutOf={aboutOf} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('nav.events')}
        columns={columnsFor(aboutOf)}
        rows={rows}
        rowKey={({ id }) => id}
        empty={t('events.empty')}
      />
      {data && <CursorPager label={t('nav.events')} page={page} next={data.next_cursor} note="" onChange={setPage} />}
    </Page>
  );
}

interface EventFiltersProps {
  filter: Filter;
  aboutOf: NameOf;
  onChange: (changes: Partial<Filter>) => void;
}

function EventFilters({ filter, aboutOf, onChange }: EventFiltersProps) {
  return (
    <div class="filters" role="search" aria-label={t('events.filter')}>
      <SelectField
        label={t('events.type')}
        hideLabel
        value={filter.type}
        choices={TYPES}
        onChange={(type) => onChange({ type })}
      />
      <SelectField
        label={t('events.resource')}
        hideLabel
        value={filter.resource_type}
        choices={RESOURCES}
        onChange={(kind) => onChange({ resource_type: kind, resource_id: '' })}
      />
      {filter.resource_id !== '' && (
        <button type="button" onClick={() => onChange({ resource_id: '' })}>
          {t('events.only', { name: aboutOf(filter.resource_type, Number(filter.resource_id)) })}
        </button>
      )}
    </div>
  );
}

function LiveBadge({ live: { isLive, error } }: { live: LiveEvents }) {
  if (isLive) return <Badge tone="good">{t('events.live')}</Badge>;
  return (
    <Badge tone="fair" title={error ?? undefined}>
      {t('events.connecting')}
    </Badge>
  );
}
