import { useEffect, useState } from 'preact/hooks';

const NARROW = '(width < 640px)';

/** Whether the window is as narrow as a phone. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const look = (): void => setNarrow(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return narrow;
}
