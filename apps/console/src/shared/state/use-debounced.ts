import { useEffect, useState } from 'preact/hooks';

/** The value as it was when it last stood still for a moment: what is typed does not ask the service for each letter. */
export function useDebounced<T>(value: T, ms = 250): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
