import type { ImportAction, ImportItem, ImportMode } from '@gatehouse/contracts';
import { rawOf } from '../rule-definition.js';
import type { StoredDefinition } from '../rule-definition.js';
import { spread } from '../rule-order.js';

/** A manual rule as it is stored. */
export interface ExistingRule extends StoredDefinition {
  id: number;
  enabled: boolean;
  note: string | null;
  priority: number;
  afterProfile?: boolean;
}

/** A rule as the import wants it, with a kernel tag as target. Undefined fields stay unchanged. */
export interface WantedRule extends StoredDefinition {
  enabled: boolean | undefined;
  note: string | null | undefined;
  priority: number | undefined;
  afterProfile?: boolean | undefined;
}

export interface PlannedRule extends StoredDefinition {
  enabled: boolean;
  note: string | null;
  priority: number;
  afterProfile?: boolean;
}

export interface ImportPlan {
  create: PlannedRule[];
  /** For each rule of `create`, the items that get its id. */
  createdItems: ImportItem[][];
  update: (PlannedRule & { id: number })[];
  remove: number[];
  /** One for each wanted rule, in order, then the removed ones. */
  items: ImportItem[];
  counts: Record<ImportAction, number>;
}

/** The priority of each existing rule, and of each slot for a new one. */
type Places = ReadonlyMap<ExistingRule | Slot, number>;

/** A wanted rule, with its row if it already exists. */
interface Slot {
  /** Its own item, then those of its repetitions. */
  items: [ImportItem, ...ImportItem[]];
  wanted: WantedRule;
  existing: ExistingRule | null;
}

/**
 * Plans the changes that turn the manual rules into those of an import. A wanted rule that equals an existing one is
 * that rule: its id and its hits stay.
 */
export function planImport(
  mode: ImportMode,
  existing: readonly ExistingRule[],
  wanted: readonly WantedRule[],
): ImportPlan {
  const { slots, items } = assign(existing, wanted);
  const claimed = new Set(slots.map((slot) => slot.existing?.id));
  const gone = mode === 'append' ? [] : existing.filter(({ id }) => !claimed.has(id));
  const places = mode === 'append' ? placeBehind(existing, slots) : placeInOrder(slots);
  const plan: ImportPlan = {
    create: [],
    createdItems: [],
    update: [],
    remove: gone.map(({ id }) => id),
    items: [...items, ...gone.map((rule) => ({ id: rule.id, name: rawOf(rule), action: 'removed' as const }))],
    counts: { created: 0, updated: 0, unchanged: 0, duplicate: 0, removed: 0 },
  };
  for (const slot of slots) decide(plan, slot, places.get(slot.existing ?? slot) ?? 0, mode);
  if (mode === 'append') moveOthers(plan, existing, { claimed, places });
  for (const { action } of plan.items) plan.counts[action]++;
  return plan;
}

/** Matches wanted rules with existing ones, and repetitions with the first of them. */
function assign(existing: readonly ExistingRule[], wanted: readonly WantedRule[]) {
  const present = new Map<string, ExistingRule>();
  for (const rule of existing) if (!present.has(keyOf(rule))) present.set(keyOf(rule), rule);
  const seen = new Map<string, Slot>();
  const items = wanted.map((rule): ImportItem => {
    const key = keyOf(rule);
    const first = seen.get(key);
    const same = present.get(key) ?? null;
    const action = first !== undefined ? 'duplicate' : same === null ? 'created' : 'unchanged';
    const item: ImportItem = { id: same?.id ?? null, name: rawOf(rule), action };
    if (first === undefined) seen.set(key, { items: [item], wanted: rule, existing: same });
    else first.items.push(item);
    return item;
  });
  return { slots: [...seen.values()], items };
}

function decide(plan: ImportPlan, { items, wanted, existing }: Slot, priority: number, mode: ImportMode): void {
  const { type, payload, target, noResolve, src } = wanted;
  const enabled = wanted.enabled ?? existing?.enabled ?? true;
  const note = wanted.note === undefined ? (existing?.note ?? null) : wanted.note;
  const afterProfile = wanted.afterProfile ?? existing?.afterProfile ?? false;
  const rule: PlannedRule = { type, payload, target, noResolve, src, enabled, note, priority, afterProfile };
  if (existing === null) {
    plan.create.push(rule);
    plan.createdItems.push(items);
    return;
  }
  const stays = (existing.afterProfile ?? false) === afterProfile;
  const changed = existing.enabled !== enabled || existing.note !== note || !stays;
  const moved = existing.priority !== priority;
  // Appending rules does not count as updating those that move to make room.
  if (changed || (moved && mode === 'replace')) items[0].action = 'updated';
  if (changed || moved) plan.update.push({ id: existing.id, ...rule });
}

/** Existing rules that the import does not mention and that have to move. */
function moveOthers(
  plan: ImportPlan,
  existing: readonly ExistingRule[],
  { claimed, places }: { claimed: ReadonlySet<number | undefined>; places: Places },
): void {
  for (const rule of existing) {
    const priority = places.get(rule) ?? rule.priority;
    if (!claimed.has(rule.id) && priority !== rule.priority) plan.update.push({ ...rule, priority });
  }
}

/** In the order of the import; given and present priorities are kept where possible. */
function placeInOrder(slots: readonly Slot[]): Places {
  const ordered = [...slots];
  if (slots.every(({ wanted }) => wanted.priority !== undefined)) {
    ordered.sort((a, b) => (a.wanted.priority ?? 0) - (b.wanted.priority ?? 0));
  }
  const priorities = spread(ordered.map((slot) => slot.wanted.priority ?? slot.existing?.priority ?? null));
  return new Map(ordered.map((slot, index) => [slot.existing ?? slot, priorities[index] ?? 0]));
}

/**
 * Places new rules behind all others, but before a closing MATCH, behind which they would never be reached. A MATCH
 * among them goes behind that one, so that an import cannot change what is there.
 */
function placeBehind(existing: readonly ExistingRule[], slots: readonly Slot[]): Places {
  const fresh = slots.filter((slot) => slot.existing === null);
  if (fresh.length === 0) return new Map(existing.map((rule) => [rule, rule.priority]));
  const last = existing.at(-1);
  const closing = last?.type === 'MATCH' ? last : null;
  const head = closing === null ? existing : existing.slice(0, -1);
  const ahead = closing === null ? fresh : fresh.filter(({ wanted }) => wanted.type !== 'MATCH');
  const behind = closing === null ? [] : fresh.filter(({ wanted }) => wanted.type === 'MATCH');
  const rows = [...head, ...ahead, ...(closing === null ? [] : [closing]), ...behind];
  const free = (count: number): null[] => Array.from({ length: count }, () => null);
  const before = head.length === 0 ? [] : [head.at(-1)?.priority ?? 0];
  const attempts = [closing === null ? [] : [closing.priority], closing === null ? [] : [null]].map((place) =>
    spread([...before, ...free(ahead.length), ...place, ...free(behind.length)]),
  );
  // Without room before the MATCH it moves; without any room all rules move.
  const stays = (tail: readonly number[]): boolean => before.length === 0 || tail[0] === before[0];
  const tail = attempts.find(
    (each, index) => stays(each) && (index > 0 || keepsClosing(each, ahead.length, { before, closing })),
  );
  const kept = head.slice(0, -1).map(({ priority }) => priority);
  const places = tail === undefined ? spread(free(rows.length)) : [...kept, ...tail];
  return new Map(rows.map((row, index) => [row, places[index] ?? 0]));
}

function keepsClosing(
  tail: readonly number[],
  ahead: number,
  { before, closing }: { before: readonly number[]; closing: ExistingRule | null },
): boolean {
  return closing === null || tail[before.length + ahead] === closing.priority;
}

function keyOf({ type, payload, target, noResolve, src }: StoredDefinition): string {
  return [type, payload, target, noResolve, src].join('\n');
}
