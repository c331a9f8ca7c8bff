import { useEffect, useState } from 'preact/hooks';
import { parseHash, type Route } from './route.js';

/** The page that the address names; it changes with links and with the browser's own buttons. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseHash(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseHash(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}
