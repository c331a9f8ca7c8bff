/** Notified with a `HealthNotice` as JSON when measurements are stored. */
export const NODE_HEALTH_CHANNEL = 'proxy_gateway_node_health';

/** The nodes with new results for one test address (empty: the general one). */
export interface HealthNotice {
  url: string;
  ids: number[];
}
