import { hrefTo } from '../../shared/state/route.js';

/** A user of the proxy; its connections are in the traffic log. */
export function UserLink({ user }: { user: string }) {
  return (
    <a href={hrefTo('traffic', { keyword: user })} title={user}>
      {user}
    </a>
  );
}
