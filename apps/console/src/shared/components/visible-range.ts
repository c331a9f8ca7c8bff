/** Rows above and below what can be seen, so that a quick scroll does not show an empty place. */
const OVERSCAN = 8;

/** Which rows of a list to draw: from `first` up to and without `last`. `view`: pixels that are scrolled past and seen. */
export function visibleRange(
  view: { top: number; height: number },
  rowHeight: number,
  count: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight) - OVERSCAN));
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  return { first, last: Math.max(first, last) };
}
