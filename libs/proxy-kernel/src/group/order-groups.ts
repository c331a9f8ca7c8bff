interface Visit {
  readonly name: string;
  next: number;
}

/** The groups, each after those that it contains, or a cycle (`['A', 'B', 'A']`). */
export type GroupOrder = { order: string[]; cycle: null } | { order: null; cycle: string[] };

/** Iterative, because the nesting of groups may be deeper than the stack. */
export function orderGroups(edges: ReadonlyMap<string, readonly string[]>): GroupOrder {
  const done = new Set<string>();
  for (const start of edges.keys()) {
    const cycle = done.has(start) ? null : cycleFrom(start, edges, done);
    if (cycle) return { order: null, cycle };
  }
  return { order: [...done], cycle: null };
}

/** Adds each group to `done` after its members. */
function cycleFrom(start: string, edges: ReadonlyMap<string, readonly string[]>, done: Set<string>): string[] | null {
  const path: Visit[] = [{ name: start, next: 0 }];
  const onPath = new Set([start]);
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const child = edges.get(top.name)?.[top.next++];
    if (child === undefined) {
      done.add(top.name);
      onPath.delete(top.name);
      path.pop();
    } else if (onPath.has(child)) {
      const names = path.map((visit) => visit.name);
      return [...names.slice(names.indexOf(child)), child];
    } else if (edges.has(child) && !done.has(child)) {
      path.push({ name: child, next: 0 });
      onPath.add(child);
    }
  }
  return null;
}
