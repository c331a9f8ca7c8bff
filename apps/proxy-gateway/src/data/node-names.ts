/** SQL: the name of a row of `nodes` that users see. */
export const NODE_NAME = 'coalesce(custom_name, original_name)';

/**
 * SQL: that name behind the name of each subscription that has the node, `Provider/Tokyo`. It tells nodes of the same name
 * apart.
 */
export const QUALIFIED_NAMES = `ARRAY(
  SELECT subscription.name || '/' || ${NODE_NAME} FROM node_sources carried
  JOIN subscriptions subscription ON subscription.id = carried.subscription_id
  WHERE carried.node_id = nodes.id ORDER BY subscription.id)`;
