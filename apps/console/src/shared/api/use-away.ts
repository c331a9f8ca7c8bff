import { useContext, useEffect, useState } from 'preact/hooks';
import { ApiContext } from './api-context.js';

/** Whether the service has stopped answering. */
export function useAway(): boolean {
  const reachability = useContext(ApiContext)?.reachability;
  const [away, setAway] = useState(reachability?.away ?? false);
  useEffect(() => {
    setAway(reachability?.away ?? false);
    return reachability?.onChange(() => setAway(reachability.away));
  }, [reachability]);
  return away;
}
