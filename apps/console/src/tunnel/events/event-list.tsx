import type { EventView } from '@gatehouse/contracts';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { EventSubject, useEventSubjects } from './event-subject.js';
import { EventBadge } from './event-badge.js';

/** What happened, the newest first, in few words. */
export function EventList({ events }: { events: readonly EventView[] }) {
  const aboutOf = useEventSubjects(events);
  if (events.length === 0) return <p class="muted">{t('events.none')}</p>;
  return (
    <ul class="events">
      {events.map((event) => (
        <li key={event.id}>
          <EventBadge type={event.type} />
          <span class="message">
            <EventSubject event={event} aboutOf={aboutOf} /> {event.message}
          </span>
          <span class="muted" title={formatTime(event.created_at)}>
            {formatRelative(event.created_at)}
          </span>
        </li>
      ))}
    </ul>
  );
}
