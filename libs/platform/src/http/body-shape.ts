/** More than any request class has, and more than people send in maps of settings. */
const MAX_FIELDS = 500;
const MAX_DEPTH = 64;

/**
 * The problem with the shape of a parsed body, or undefined. Converting a body into a request class takes time
 * quadratic in the fields of an object, and stack proportional to its depth, so that a small body could block everyone.
 */
export function shapeProblem(body: unknown): string | undefined {
  let level = [body].filter(isObject);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return `The body is nested more than ${MAX_DEPTH} levels deep`;
    const next: object[] = [];
    for (const value of level) {
      const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
      if (!Array.isArray(value) && items.length > MAX_FIELDS) {
        return `An object in the body has more than ${MAX_FIELDS} fields`;
      }
      for (const item of items) if (isObject(item)) next.push(item);
    }
    level = next;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
