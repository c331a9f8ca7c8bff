/** Carries a `HealthNotice` as JSON whenever measurements were stored. */
export const NODE_HEALTH_CHANNEL = 'proxy_gateway_node_health';

/** Which nodes have news, by one test address (empty: the general one). */
export interface HealthNotice {
  url: string;
  ids: number[];
}
