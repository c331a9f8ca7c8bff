/** The gap between neighbours, so that most insertions move no other rule. */
export const PRIORITY_STEP = 1_024;
export const MAX_PRIORITY = 1_000_000_000_000;

export interface OrderedRule {
  id: number;
  type: string;
  priority: number;
}

export interface Placement {
  /** Priority of the new rule. */
  priority: number;
  /** Other rules that have to move to make room. */
  moved: { id: number; priority: number }[];
}

export type Anchor = { before: number } | { after: number };

/** The end of the list, but before a closing MATCH, since a rule behind it would never be reached. */
export function placeLast(rules: readonly OrderedRule[]): Placement {
  const last = rules.at(-1);
  if (last === undefined) return { priority: PRIORITY_STEP, moved: [] };
  if (last.type !== 'MATCH') return placeAt(rules, rules.length);
  const placed = placeAt(rules, rules.length - 1);
  const priority = within((rules.at(-2)?.priority ?? last.priority) + PRIORITY_STEP);
  const behind = priority === null ? null : within(priority + PRIORITY_STEP);
  // Cheaper than moving many of the others.
  if (placed.moved.length > 1 && priority !== null && behind !== null) {
    return { priority, moved: [{ id: last.id, priority: behind }] };
  }
  return placed;
}

/**
 * Places a rule next to another one.
 * @param rules all other rules, in order.
 * @returns null if the anchor is not among them.
 */
export function placeBeside(rules: readonly OrderedRule[], anchor: Anchor): Placement | null {
  const anchorId = 'before' in anchor ? anchor.before : anchor.after;
  const index = rules.findIndex((rule) => rule.id === anchorId);
  if (index < 0) return null;
  return placeAt(rules, 'before' in anchor ? index : index + 1);
}

function placeAt(rules: readonly OrderedRule[], index: number): Placement {
  const before = rules[index - 1]?.priority;
  const after = rules[index]?.priority;
  const priority = between(before, after);
  return priority === null ? renumber(rules, index) : { priority, moved: [] };
}

/** A priority strictly between two; null if there is none. */
function between(before: number | undefined, after: number | undefined): number | null {
  if (before === undefined) return after === undefined ? PRIORITY_STEP : within(after - PRIORITY_STEP);
  if (after === undefined) return within(before + PRIORITY_STEP);
  const middle = Math.floor((before + after) / 2);
  return middle > before && middle < after ? middle : null;
}

function within(priority: number): number | null {
  return Math.abs(priority) <= MAX_PRIORITY ? priority : null;
}

function renumber(rules: readonly OrderedRule[], index: number): Placement {
  const slot = (position: number): number => (position + 1) * PRIORITY_STEP;
  const moved = rules
    .map((rule, position) => ({
      id: rule.id,
      was: rule.priority,
      priority: slot(position < index ? position : position + 1),
    }))
    .filter((rule) => rule.was !== rule.priority);
  return { priority: slot(index), moved: moved.map(({ id, priority }) => ({ id, priority })) };
}

/**
 * Assigns strictly rising priorities.
 * @param wanted the priorities to keep; null for any. If not all can be kept, all are assigned again.
 */
export function spread(wanted: readonly (number | null)[]): number[] {
  const places: number[] = [];
  for (let start = 0; start < wanted.length;) {
    let end = start;
    while (end < wanted.length && wanted[end] === null) end++;
    const run = fill(end - start, places.at(-1), wanted[end] ?? undefined);
    const fixed = wanted[end] ?? null;
    const last = run?.at(-1) ?? places.at(-1);
    if (run === null || (fixed !== null && last !== undefined && fixed <= last)) return inSteps(wanted.length);
    for (const place of run) places.push(place);
    if (fixed !== null) places.push(fixed);
    start = end + 1;
  }
  return places;
}

/** `count` priorities strictly between two; null if there is no room for them. */
function fill(count: number, before: number | undefined, after: number | undefined): number[] | null {
  if (count === 0) return [];
  const step = after !== undefined && before !== undefined ? Math.floor((after - before) / (count + 1)) : PRIORITY_STEP;
  const first = before === undefined ? (after ?? (count + 1) * step) - count * step : before + step;
  const last = first + (count - 1) * step;
  if (step < 1 || within(first) === null || within(last) === null) return null;
  return Array.from({ length: count }, (_, index) => first + index * step);
}

function inSteps(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index + 1) * PRIORITY_STEP);
}
