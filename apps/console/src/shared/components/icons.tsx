/** Line drawings on a field of 20 by 20. */
const PATHS = {
  dashboard: 'M3 11h6V3H3zM11 17h6V9h-6zM3 17h6v-3H3zM11 6h6V3h-6z',
  nodes: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01',
  subscriptions: 'M4 16a1 1 0 1 0 .01 0M4 10a6 6 0 0 1 6 6M4 4a12 12 0 0 1 12 12',
  groups: 'M10 3v4M10 7 5 12M10 7l5 5M3 12h4v4H3zM13 12h4v4h-4z',
  rules: 'M4 5h12M4 10h12M4 15h7',
  connections: 'M3 7h11l-3-3M17 13H6l3 3',
  traffic: 'M4 16V9M8 16V4M12 16v-6M16 16V7',
  logs: 'M5 3h7l3 3v11H5zM8 9h4M8 12h4',
  audit: 'M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5zM7.5 10l2 2 3.5-4',
  settings: 'M4 6h8M15 6h1M4 14h2M9 14h7M12 4v4M6 12v4',
  keys: 'M8 12a4 4 0 1 1 3-3l6 6v2h-3v-2h-2v-2h-2zM6.5 7.5h.01',
  hosts: 'M10 3a7 7 0 1 0 .01 0M3 10h14M10 3c-5 4-5 10 0 14c5-4 5-10 0-14',
  certificates: 'M10 3a4.5 4.5 0 1 0 .01 0M7.5 11.5 6 17l4-2 4 2-1.5-5.5',
  access: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3M10 12v2',
  users: 'M8 4a3 3 0 1 0 .01 0M3 16a5 5 0 0 1 10 0M13 5a3 3 0 0 1 0 5M15 12a5 5 0 0 1 2.5 4',
  transfer: 'M6 3v11M3 11l3 3 3-3M14 17V6M11 9l3-3 3 3',
  system: 'M3 4h14v9H3zM7 17h6M10 13v4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
