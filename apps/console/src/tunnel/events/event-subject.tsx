import type { EventView } from '@gatehouse/contracts';
import { hrefTo } from '../../shared/state/route.js';
import { useResourceNames, type NameOf } from '../parts/resource-names.js';

const PAGES: Readonly<Record<string, string>> = { client: 'clients', tunnel: 'tunnels', host: 'hosts' };

/** Names of what events are about. */
export function useEventSubjects(events: readonly EventView[]): NameOf {
  const refs = events.flatMap(({ resource_type: kind, resource_id: id }) =>
    kind === null || id === null ? [] : [{ kind, id }],
  );
  return useResourceNames(refs, { mayBeGone: true });
}

/** What an event is about, where its message does not say so itself. */
export function EventSubject({ event, aboutOf }: { event: EventView; aboutOf: NameOf }) {
  const { resource_type: kind, resource_id: id } = event;
  if (kind === null || id === null || !(kind in PAGES)) return null;
  const name = aboutOf(kind, id);
  if (event.message.includes(name)) return null;
  return <a href={hrefTo(PAGES[kind] ?? '', { id })}>{name}</a>;
}
