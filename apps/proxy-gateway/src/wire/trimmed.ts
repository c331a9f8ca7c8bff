/** For `@Transform`: strings without surrounding white space, other values unchanged. */
export const trimmed = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value);
