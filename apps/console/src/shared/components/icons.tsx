import icons from '../icons.svg';

/** Drawings of icons.svg that the consoles use. */
export type IconName =
  | 'dashboard'
  | 'nodes'
  | 'subscriptions'
  | 'groups'
  | 'rules'
  | 'connections'
  | 'traffic'
  | 'logs'
  | 'audit'
  | 'settings'
  | 'keys'
  | 'hosts'
  | 'certificates'
  | 'access'
  | 'users'
  | 'transfer'
  | 'shares'
  | 'system'
  | 'processor'
  | 'account';

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" width="18" height="18" aria-hidden="true" focusable="false">
      <use href={`${icons}#${name}`} />
    </svg>
  );
}
