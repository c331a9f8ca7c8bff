/** Space between neighbours, so that most insertions move nobody. */
export const PRIORITY_STEP = 1_024;
export const MAX_PRIORITY = 1_000_000_000_000;

export interface OrderedRule {
  id: number;
  type: string;
  priority: number;
}

export interface Placement {
  /** Priority of the rule to place. */
  priority: number;
  /** Others that have to move to make room. */
  moved: { id: number; priority: number }[];
}

export type Anchor = { before: number } | { after: number };

/** The end of the list, yet ahead of a closing MATCH: behind it a rule would never be tried. */
export function placeLast(rules: readonly OrderedRule[]): Placement {
  const last = rules.at(-1);
  if (last === undefined) return { priority: PRIORITY_STEP, moved: [] };
  return last.type === 'MATCH' ? placeAt(rules, rules.length - 1) : placeAt(rules, rules.length);
}

/**
 * Beside another rule.
 * @param rules all others, in order.
 * @returns null when the anchor is not among them.
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

/** A priority strictly between two; null when there is none left. */
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
