import { useRef, useState } from 'preact/hooks';
import { moveTarget } from './move-target.js';

interface RowDragOptions {
  /** The box that scrolls the rows. */
  box: { current: HTMLElement | null };
  /** Height of what stays above the rows. */
  headHeight: () => number;
  rowHeight: number;
  /** Keys of the rows, in order. They may change while a row is held. */
  keys: readonly (number | string)[];
  onMove: (from: number, to: number) => void;
}

export interface RowDrag {
  /** The row that is held, and the gap that it would go into: 0 is above the first row. Null: none is held. */
  held: { from: number; gap: number } | null;
  begin: (event: PointerEvent, from: number) => void;
}

/** How near an edge, in pixels, the pointer makes the rows scroll, and by how much at a time. */
const EDGE = 36;
const STEP = 14;

/** Moves rows with a mouse, a pen or a finger. The box follows the pointer, since the row itself may scroll away. */
export function useRowDrag({ box, headHeight, rowHeight, keys, onMove }: RowDragOptions): RowDrag {
  const [held, setHeld] = useState<RowDrag['held']>(null);
  const latest = useRef({ keys, onMove });
  latest.current = { keys, onMove };
  const begin = (event: PointerEvent, from: number): void => {
    const element = box.current;
    if (element === null || event.button !== 0) return;
    event.preventDefault();
    const abort = new AbortController();
    const { signal } = abort;
    const key = keys[from];
    let gap = from;
    let y = event.clientY;
    const look = (): void => {
      const frame = element.getBoundingClientRect();
      const top = frame.top + headHeight();
      if (y < top + EDGE) element.scrollTop -= STEP;
      if (y > frame.bottom - EDGE) element.scrollTop += STEP;
      gap = Math.max(0, Math.min(latest.current.keys.length, Math.round((y - top + element.scrollTop) / rowHeight)));
      setHeld({ from, gap });
    };
    const timer = setInterval(look, 30);
    const end = (isDropped: boolean): void => {
      clearInterval(timer);
      abort.abort();
      setHeld(null);
      const now = latest.current.keys.findIndex((other) => other === key);
      const to = moveTarget(now, gap);
      if (isDropped && now >= 0 && to !== now) latest.current.onMove(now, to);
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', (moved) => ((y = moved.clientY), look()), { signal });
    element.addEventListener('pointerup', (moved) => ((y = moved.clientY), look(), end(true)), { signal });
    element.addEventListener('pointercancel', () => end(false), { signal });
    addEventListener('keydown', ({ key }) => key === 'Escape' && end(false), { signal });
  };
  return { held, begin };
}
