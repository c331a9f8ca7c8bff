/** For `@Transform`: text without the blanks around it, anything else as it came. */
export const trimmed = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value);
