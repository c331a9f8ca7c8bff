import { Badge } from '../../shared/components/page.js';
import { eventName, toneOf } from './event-names.js';

/** The type of an event; programs know it by the name in the title. */
export function EventBadge({ type }: { type: string }) {
  return (
    <Badge tone={toneOf(type)} title={type}>
      {eventName(type)}
    </Badge>
  );
}
