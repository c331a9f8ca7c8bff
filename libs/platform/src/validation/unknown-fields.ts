const LENIENT = new Set<unknown>();

/** A request class that ignores unknown fields, for clients of a newer version. Other classes refuse them. */
export function IgnoresUnknownFields(): ClassDecorator {
  return (type) => {
    LENIENT.add(type);
  };
}

/** Only the class itself: subclasses decide for themselves. */
export function ignoresUnknownFields(type: unknown): boolean {
  return LENIENT.has(type);
}

/** Names of all such classes in the interface description. */
export function lenientClassNames(): ReadonlySet<string> {
  return new Set([...LENIENT].flatMap((type) => (typeof type === 'function' ? [type.name] : [])));
}
