import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** How far a box is scrolled and how much of it can be seen, in pixels. */
export interface ScrollView {
  top: number;
  height: number;
}

/** Follows the scrolling and the size of a box. */
export function useScrollView<E extends HTMLElement>(): { box: { current: E | null }; view: ScrollView } {
  const box = useRef<E>(null);
  const [view, setView] = useState<ScrollView>({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, []);
  return { box, view };
}
