/** For @Transform: a whole number from a query; anything else is not converted and is refused. */
export const wholeNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
