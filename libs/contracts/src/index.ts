export * from './proxy-node.js';
export * from './queues.js';
export * from './proxy-gateway/auth.js';
export * from './proxy-gateway/api-key.js';
export * from './proxy-gateway/rule.js';
export * from './proxy-gateway/connection.js';
export * from './proxy-gateway/traffic-log.js';
export * from './proxy-gateway/dashboard.js';
