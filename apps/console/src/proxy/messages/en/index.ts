import { activity } from './activity.js';
import { frame } from './frame.js';
import { nodeActions } from './node-actions.js';
import { nodes } from './nodes.js';
import { proxyUsers } from './proxy-users.js';
import { publications } from './publications.js';
import { routing } from './routing.js';
import { settings } from './settings.js';
import { traffic } from './traffic.js';

/** Words of the proxy gateway's console by page. */
export const en = {
  ...activity,
  ...frame,
  ...nodeActions,
  ...nodes,
  ...proxyUsers,
  ...publications,
  ...routing,
  ...settings,
  ...traffic,
} as const;
