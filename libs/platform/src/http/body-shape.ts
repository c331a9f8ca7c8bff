/** More than any request class has, and than people send in maps of settings. */
const MAX_FIELDS = 500;
const MAX_DEPTH = 64;

/**
 * What is wrong with the shape of a parsed body; undefined when nothing is. The classes that requests are read into
 * take time with the square of an object's fields, and stack with its depth: a small body could hold up everybody.
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
