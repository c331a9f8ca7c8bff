const LENIENT = new Set<unknown>();

/** A request class that leaves out fields it does not know, for clients that were made for more. Others refuse them. */
export function IgnoresUnknownFields(): ClassDecorator {
  return (type) => {
    LENIENT.add(type);
  };
}

/** Of the class itself: those that extend it say for themselves. */
export function ignoresUnknownFields(type: unknown): boolean {
  return LENIENT.has(type);
}

/** Names of all such classes, as the interface description knows them. */
export function lenientClassNames(): ReadonlySet<string> {
  return new Set([...LENIENT].flatMap((type) => (typeof type === 'function' ? [type.name] : [])));
}
